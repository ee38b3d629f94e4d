#!/bin/bash
# Runs the engine of a task: what was ordered comes to OUTPUT/.run, and what it says goes there, with its exit code.
run="$OUTPUT/.run"
# whoever lays it there ends the task where it cannot
until [[ -e "$run/arguments" ]]; do sleep 0.2; done
while :; do touch "$run/heartbeat"; sleep "${HEARTBEAT_S:-5}"; done &
beat=$!
mapfile -d '' -t arguments < "$run/arguments"

if [[ -s "$run/rotate" ]]; then
  # the last line that it says may name a proxy
  proxy=$(bash "$run/rotate" 2>>"$run/log" | tail -n 1)
  if [[ "$proxy" =~ ^(https?|socks5|ssh)://[^[:space:]]+$ ]]; then arguments+=("--proxyServer=$proxy"); fi
fi

# no child of the engine, whose children are told to end
exec 3> >(tee -a "$run/log")
"${arguments[@]}" >&3 2>&1 3>&- &
engine=$!
exec 3>&-
interrupt() {
  touch "$run/interrupted"
  # zimit kills its crawler at once where it is told itself; the crawler saves its state
  crawler=$(cat "/proc/$engine/task/$engine/children" 2>/dev/null)
  # shellcheck disable=SC2086
  kill -TERM ${crawler:-$engine} 2>/dev/null
}
trap interrupt TERM INT
while :; do
  wait "$engine"
  code=$?
  # a signal of ours ends the wait, and the engine goes on until it has saved its state
  if ((code <= 128)) || ! kill -0 "$engine" 2>/dev/null; then break; fi
done
wait "$engine" 2>/dev/null
late=$?
if ((late != 127)); then code=$late; fi
kill "$beat" 2>/dev/null
printf %s "$code" >"$run/exit-code.new" && mv "$run/exit-code.new" "$run/exit-code"
exit "$code"
