"""Builds the extension module and puts the library beside it.

OLEODYN_BUILD names a build folder of CMake with the library (`make` builds one in `build`). Without it, CMake builds the library for this package.
"""
import os
import pathlib
import re
import shutil
import subprocess

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = pathlib.Path(__file__).resolve().parent
root = here.parent
version = re.search(r'#define OD_VERSION +"([^"]+)"', (root / "include/oleodyn/version.h").read_text()).group(1)


class BuildWithLibrary(build_ext):
    """Compiles the module against liboleodyn.so and copies the library, its helper programs and the sources for `export --c` into the package."""

    def library_folder(self) -> pathlib.Path:
        given = os.environ.get("OLEODYN_BUILD")
        if given:
            folder = pathlib.Path(given).resolve()
            if not (folder / "liboleodyn.so").exists():
                raise SystemExit(f"setup.py: OLEODYN_BUILD is {folder}, which contains no liboleodyn.so; build the target oleodyn_shared first")
            return folder
        folder = pathlib.Path(self.build_temp).resolve() / "library"
        subprocess.run(["cmake", "-S", root, "-B", folder, "-DOD_TESTS=OFF"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", "oleodyn_shared", "oleodyn", "core_copy"],
                       check=True, stdout=subprocess.DEVNULL)
        return folder

    def build_extension(self, extension):
        folder = self.library_folder()
        extension.library_dirs.append(str(folder))
        super().build_extension(extension)
        package = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve().parent
        soname = "liboleodyn.so." + ".".join(version.split(".")[:2])
        shutil.copy2((folder / soname).resolve(), package / soname)
        helpers = package / "libexec/oleodyn"
        shutil.copytree(folder / "libexec/oleodyn", helpers, dirs_exist_ok=True)


core = Extension(
    "oleodyn._core",
    sources=[str(p.relative_to(here)) for p in sorted((here / "src").glob("*.c"))] if pathlib.Path.cwd() == here else
    [str(p) for p in sorted((here / "src").glob("*.c"))],
    include_dirs=[str(root / "include"), str(here / "src"), numpy.get_include()],
    depends=[str(p) for p in [here / "src/oleodyn_python.h", *(root / "include/oleodyn").glob("*.h")]],
    define_macros=[("_GNU_SOURCE", None)],
    libraries=["oleodyn"],
    extra_compile_args=["-std=c17", "-Wall", "-Wextra", "-Wno-missing-field-initializers"],
    extra_link_args=["-Wl,-rpath,$ORIGIN"],
)

setup(version=version, ext_modules=[core], cmdclass={"build_ext": BuildWithLibrary})
