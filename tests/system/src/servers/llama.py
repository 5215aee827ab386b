# Serves a model file over OpenAI's API, on one thread, until its input ends.
import os
import sys

import xllamacpp

model, name, key, port = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {name}
params.api_keys = [key]
params.port = int(port)
params.n_ctx = 4096
params.n_parallel = 1
params.n_gpu_layers = 0
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
sys.stdin.read()
os._exit(0)
