"""Fitted runs as ONNX files, which run without this package."""

from graphheat.portable.onnx_builder import dense
from graphheat.portable.onnx_model import write_onnx

__all__ = ["dense", "write_onnx"]
