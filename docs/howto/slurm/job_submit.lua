-- For the folder of slurm.conf, with JobSubmitPlugins=lua: warns at submission if --nodelist names
-- nodes on more leaf switches than necessary, or if a few nodes less would need one leaf switch less.
-- It refuses no job. It reads topology.conf beside it when slurmctld loads it.

local configuration = os.getenv("SLURM_CONF") or "/etc/slurm/slurm.conf"
local topology = configuration:gsub("[^/]+$", "topology.conf")
local MOST_NODES = 1000000

-- Calls each(name) for every node of a list such as "node[01-04,7],gpu1". It fails if there are far
-- more than `most`, because slurmctld waits.
local function expand(list, most, each)
  local steps = 0
  local function name(text)
    steps = steps + 1
    assert(steps <= 2 * most + 10, "too many nodes")
    local before, ranges, after = text:match("^([^%[]*)%[([^%]]*)%](.*)$")
    if not before then return each(text) end
    for range in ranges:gmatch("[^;]+") do
      local first, last = range:match("^(%d+)-?(%d*)$")
      for number = tonumber(first), tonumber(last ~= "" and last or first) do
        name(before .. string.format("%0" .. #first .. "d", number) .. after)
      end
    end
  end
  list = list:gsub("%b[]", function(ranges) return (ranges:gsub(",", ";")) end)
  for text in list:gmatch("[^,]+") do name(text) end
end

local leaf_of, sizes, nodes = {}, {}, 0
local file = io.open(topology)
for line in file and file:lines() or function() end do
  local leaf, list = line:match("^%s*SwitchName=(%S+).-%sNodes=(%S+)")
  if leaf then
    local size = 0
    expand(list, MOST_NODES, function(node)
      leaf_of[node], size = leaf, size + 1
    end)
    table.insert(sizes, size)
    nodes = nodes + size
  end
end
table.sort(sizes, function(one, other) return one > other end)

-- On how few leaves so many nodes fit, and how many fit on one leaf less.
local function fewest_leaves(count)
  local leaves, held, below = 0, 0, 0
  while held < count and leaves < #sizes do
    leaves, below = leaves + 1, held
    held = held + sizes[leaves]
  end
  return leaves, below
end

local function warning(job)
  if job.req_nodes and job.req_nodes ~= "" then
    local count, leaves, seen = 0, 0, {}
    expand(job.req_nodes, nodes, function(node)
      local leaf = leaf_of[node]
      if leaf then
        count = count + 1
        if not seen[leaf] then leaves, seen[leaf] = leaves + 1, true end
      end
    end)
    local fewest = fewest_leaves(count)
    if leaves > fewest then
      return string.format("the %d nodes of --nodelist are on %d leaf switches; %d would do",
        count, leaves, fewest)
    end
  elseif job.min_nodes and job.min_nodes <= nodes then
    local leaves, below = fewest_leaves(job.min_nodes)
    if leaves > 1 and job.min_nodes - below <= sizes[leaves] / 4 then
      return string.format("%d nodes need %d leaf switches; %d nodes would fit on %d",
        job.min_nodes, leaves, below, leaves - 1)
    end
  end
end

function slurm_job_submit(job, partitions, user)
  -- Whatever goes wrong in here is no reason to hold up a job.
  local worked, text = pcall(warning, job)
  if worked and text then slurm.log_user("contend: %s", text) end
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, user)
  return slurm.SUCCESS
end
