"""CEL selectors: compiled and run by the C++ runtime's Python binding, with Kubernetes' libraries beside it.

The binding is imported when the first selector is compiled, never before.

Source: k8s.io/dynamic-resource-allocation/cel/compile.go, k8s.io/apiserver/pkg/cel/library.
"""
