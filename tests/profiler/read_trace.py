"""Print as JSON the pages of TensorBoard's profiler plugin for a file: read_trace.py <file>.pt.trace.json"""

import json
import logging
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
from torch_tb_profiler import consts, utils
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

path = sys.argv[1]
match = consts.WORKER_PATTERN.match(os.path.basename(path))
complaints = []
handler = logging.Handler(logging.WARNING)
handler.emit = lambda record: complaints.append(record.getMessage())
utils.get_logger().addHandler(handler)


def rows(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


data = RunProfileData.parse(match.group(1), None, path, tempfile.gettempdir())
run = RunGenerator(match.group(1), None, data).generate_run_profile()
shown = {
    "worker": match.group(1),
    "views": [view.display_name for view in run.views],
    "steps": [row[0] for row in run.overview["steps"]["rows"]],
    "operators": data.op_list_groupby_name_input and [
        {"name": op.name, "shape": op.input_shape, "calls": op.calls, "host": op.self_host_duration,
         "device": op.self_device_duration} for op in data.op_list_groupby_name_input],
    "kernels": rows(run.kernel_op_table["data"]) if data.has_kernel else [],
    "memory": run.get_memory_stats()["rows"] if data.memory_snapshot else {},
    "curves": {device: len(points) for device, points in run.get_memory_curve()["rows"].items()}
              if data.memory_snapshot else {},
    "complaints": complaints,
}
json.dump(shown, sys.stdout)
