-- Sends the requests of REQUESTS (each after its length, in a line of its own) in turn; prints what came of it as JSON.
local requests = {}
local file = assert(io.open(os.getenv("REQUESTS"), "rb"))
while true do
  local length = file:read("*l")
  if not length then break end
  requests[#requests + 1] = file:read(tonumber(length))
end
file:close()

local at = 0
function request()
  at = at % #requests + 1
  return requests[at]
end

-- Asked for every request where it is there, so only where there is a pause between them (ms).
local pause = tonumber(os.getenv("PAUSE"))
if pause > 0 then
  function delay()
    return pause
  end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"answered":%d,"micros":%d,"refused":%d,"broken":%d,"p50":%d,"p95":%d,"cpu":%d}',
    summary.requests - errors.status, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(95), os.clock() * 1000000
  ))
end
