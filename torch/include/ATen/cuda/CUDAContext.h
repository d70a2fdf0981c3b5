// What ambit lacks: streams.
#pragma once

#error "ambit has no streams of the program: synchronize(device) waits for a device"
