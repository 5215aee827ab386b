# Serves a model file over OpenAI's API, on one thread, until its input ends.
import os
import sys

import xllamacpp

# The template of the model does not support tools, so the server would leave them out. This one writes messages as that
# one does, and a call between two marks that are one token each, so that a request can have the model begin with a call
# (`logit_bias`).
TEMPLATE = """
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}{{- tool | tojson + '\\n' }}{%- endfor %}
    {{- 'Call one so: <jupyter_code>{"name": NAME, "arguments": ARGUMENTS}<jupyter_output><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|im_start|>' + ('user' if message.role == 'tool' else message.role) + '\\n' }}
    {%- if message.content %}{{- message.content }}{%- endif %}
    {%- for call in message.tool_calls or [] %}
        {{- '<jupyter_code>{"name": "' + call.function.name + '", "arguments": ' }}
        {{- (call.function.arguments | tojson) + '}<jupyter_output>' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""

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
params.chat_template = TEMPLATE
server = xllamacpp.Server(params)
sys.stdin.read()
os._exit(0)
