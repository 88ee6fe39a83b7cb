"""The installed deadheat as a compiler. It is clang 19 as far as Bazel is concerned."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set")

PREFIX = "/usr"  # where deadheat is installed

def _impl(ctx):
    tools = {
        "ar": "/usr/bin/ar",
        "cpp": "/usr/bin/clang-cpp-19",
        "gcc": PREFIX + "/bin/deadheat-cc",
        "gcov": "/usr/bin/llvm-cov-19",
        "ld": "/usr/bin/ld",
        "nm": "/usr/bin/nm",
        "objcopy": "/usr/bin/objcopy",
        "objdump": "/usr/bin/objdump",
        "strip": "/usr/bin/strip",
    }
    libraries = feature(
        name = "default_linker_flags",
        enabled = True,
        flag_sets = [flag_set(
            actions = [
                ACTION_NAMES.cpp_link_executable,
                ACTION_NAMES.cpp_link_dynamic_library,
                ACTION_NAMES.cpp_link_nodeps_dynamic_library,
            ],
            flag_groups = [flag_group(flags = ["-lstdc++", "-lm", "-pthread"])],
        )],
    )
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        features = [libraries],
        toolchain_identifier = "deadheat",
        target_system_name = "x86_64-linux-gnu",
        target_cpu = "k8",
        target_libc = "glibc",
        compiler = "clang",
        tool_paths = [struct(name = name, path = path) for name, path in tools.items()],
        cxx_builtin_include_directories = ["/usr/include", "/usr/lib", PREFIX + "/include"],
    )

deadheat_toolchain_config = rule(
    implementation = _impl,
    attrs = {},
    provides = [CcToolchainConfigInfo],
)
