"""ambit as a package of Conan 2, of the tree around this file:

    cmake/packages.sh                     # the libraries that ambit uses, from the distribution
    conan create cmake/packaging/conan -s compiler.cppstd=20
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy, load


class Ambit(ConanFile):
    name = "ambit"
    description = "A device-agnostic tensor framework in C++20"
    license = "MIT"
    package_type = "shared-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"cuda": [True, False]}
    default_options = {"cuda": False}
    generators = "CMakeToolchain"

    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        api = load(self, os.path.join(self._tree(), "core", "include", "ambit", "api.h"))
        self.version = re.search(r'AMBIT_VERSION "(.*)"', api).group(1)

    def export_sources(self):
        for pattern in "CMakeLists.txt", "LICENSE", "cmake/*", "core/*", "backends/*", "nn/*":
            copy(self, pattern, self._tree(), self.export_sources_folder,
                 excludes="cmake/packaging/*")

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={
            "AMBIT_BUILD_APPS": "OFF",
            "AMBIT_BUILD_TESTS": "OFF",
            "AMBIT_CUDA": "ON" if self.options.cuda else "OFF",
        })
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["ambit"]
        self.cpp_info.set_property(
            "cmake_build_modules", [os.path.join("lib", "cmake", "ambit", "AmbitBackend.cmake")])
