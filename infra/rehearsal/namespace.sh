#!/usr/bin/env bash
# Runs a command as an ordinary user who finds a certificate in /var/runtime/ca-cert.pem, where Lambda has Amazon's. Called
# inside mount and process namespaces of its own: nobody else sees the file, and whatever the command starts ends with it.
#   namespace.sh CERTIFICATE EMPTY_FOLDER COMMAND [ARGUMENT…]
set -euo pipefail
certificate=$1
stage=$2
shift 2

# a copy of /var whose entries are the true ones, but for one folder
mount -t tmpfs tmpfs "$stage"
for entry in /var/*; do
  copy="$stage/$(basename "$entry")"
  case $entry in
    /var/runtime) continue ;;
  esac
  if [[ -L $entry ]]; then
    cp --no-dereference "$entry" "$copy"
  elif [[ -d $entry ]]; then
    mkdir "$copy"
    mount --rbind "$entry" "$copy"
  else
    : >"$copy"
    mount --bind "$entry" "$copy"
  fi
done
mkdir "$stage/runtime"
cp "$certificate" "$stage/runtime/ca-cert.pem"
mount --rbind "$stage" /var

# the shell stays as the namespace's first process, which collects what lost its parents
unshare --user --map-user=1000 --map-group=1000 -- "$@" &
wait
