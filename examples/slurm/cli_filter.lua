-- cli_filter.lua - srun starts each step of a known program with a mapping made for its allocation; nobody asks for it.
--
-- Beside slurm.conf, which has `CliFilterPlugins=cli_filter/lua`. It runs in srun itself, as the user, and concerns steps in an
-- allocation (in a batch script, behind salloc). Known is a program of which a recording with as many ranks lies in the folder
-- FABRICAST_TRACES: PROGRAM-RANKS.fct (`fabricast trace capture`). FABRICAST_MACHINE is the cluster's machine file, FABRICAST the
-- program (default: in PATH), FABRICAST_SECONDS how long a step may be held up (default 5).
--
-- A step stays as it is where one of these lacks, where the user chose an order, a list of nodes or tasks a node, where
-- fabricast fails or takes too long, and where the mapping is not predicted to be faster by 2 % or more. No step fails here.

local LEAST_GAIN = 1.02
local made -- the host file of this step

local function quoted(text)
    return "'" .. tostring(text):gsub("'", "'\\''") .. "'"
end

local function given(value)
    return value ~= nil and value ~= "" and value ~= "unknown" and value ~= "unset" and (tonumber(value) or 1) > 0
end

local function is_there(path)
    local file = io.open(path, "r")
    if file then file:close() end
    return file ~= nil
end

-- What the command prints; nil where it fails or takes longer than the seconds that are left.
local function answer(seconds, command)
    local pipe = io.popen("timeout -k 1 " .. seconds .. " " .. command .. " </dev/null 2>/dev/null && echo fabricast-done", "r")
    if not pipe then return nil end
    local text = pipe:read("*a")
    pipe:close()
    return text and text:match("^(.*)fabricast%-done\n$")
end

local function map_step(options)
    local machine, traces = os.getenv("FABRICAST_MACHINE"), os.getenv("FABRICAST_TRACES")
    local nodes = os.getenv("SLURM_JOB_NODELIST")
    local ranks = given(options["ntasks"]) and options["ntasks"] or os.getenv("SLURM_NTASKS")
    local program = options["argv"] and options["argv"][1]
    if options["type"] ~= "srun" or not (machine and traces and nodes and ranks and program) then return end
    if given(options["distribution"]) or given(options["nodelist"]) or given(options["ntasks-per-node"]) or
        os.getenv("SLURM_HOSTFILE") or os.getenv("SLURM_DISTRIBUTION") or os.getenv("SLURM_NTASKS_PER_NODE") then
        return
    end
    local asked = tonumber(tostring(options["nodes"]):match("^%d+")) -- nodes of this step: all, or it stays
    if asked and asked ~= tonumber(os.getenv("SLURM_JOB_NUM_NODES")) then return end
    local trace = traces .. "/" .. program:match("[^/]*$") .. "-" .. ranks .. ".fct"
    if not is_there(trace) then return end
    local fabricast = quoted(os.getenv("FABRICAST") or "fabricast")
    local seconds = tonumber(os.getenv("FABRICAST_SECONDS") or "") or 5
    local job = " -m " .. quoted(machine) .. " -t " .. quoted(trace) .. " --nodes " .. quoted(nodes) .. " -q"
    local file = os.tmpname()
    made = file
    local ends = os.time() + seconds
    local function ask(command) -- with what is left of the time
        local left = ends - os.time()
        return left >= 1 and answer(left, fabricast .. command)
    end
    local function time_of(more)
        local text = ask(" predict" .. job .. " --json" .. more)
        return text and tonumber(text:match('"time_s": *([%d.eE+-]+)'))
    end
    if not ask(" map" .. job .. " --strategy optimize --time 1s --format slurm -o " .. quoted(file)) then return end
    local each = math.ceil(tonumber(ranks) / tonumber(os.getenv("SLURM_JOB_NUM_NODES") or 1)) -- as srun deals them out
    local in_order = time_of(string.format(" --ranks-per-node %d --map def", each))
    local mapped = in_order and time_of(" --map slurm:" .. quoted(file))
    if not (mapped and in_order > LEAST_GAIN * mapped) then return end
    options["distribution"] = "arbitrary"
    options["nodelist"] = file
    slurm.log_info("fabricast: mapped ranks, %.3g times as fast as in order", in_order / mapped)
end

function slurm_cli_setup_defaults(options, early_pass)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, pack_offset)
    pcall(map_step, options) -- a mistake here is no reason to hold anybody up
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
    if made then os.remove(made) end
    return slurm.SUCCESS
end
