"""What runs the models: ONNX Runtime where a model can be converted
(`onnx`), torch otherwise; off the event loop (`executor`).
"""
