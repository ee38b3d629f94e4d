# Snapshots of Qdrant's collections: `save` puts one of each into the bucket, `restore FOLDER` brings them back, where
# FOLDER is the time that `save` has named. A folder without `complete` was cut off, and is refused.
set -euo pipefail
tmp="${TMPDIR:-/tmp}"

# The key goes by standard input: a command line can be read by others.
qdrant() {
  printf 'header = "api-key: %s"\n' "$QDRANT_KEY" | curl --config - -fsS --max-time 3600 "$@"
}

# Names as the server gives them: of letters, digits, `_`, `-` and `.`.
names() {
  grep -o '"name":"[A-Za-z0-9._-]*"' | cut -d '"' -f 4
}

save() {
  local folder answer collections collection snapshot count=0
  folder="$(date -u +%Y-%m-%dT%H-%M-%SZ)"
  answer="$(qdrant "$QDRANT_URL/collections")"
  collections="$(names <<< "$answer" || true)"
  for collection in $collections; do
    snapshot="$(qdrant -X POST "$QDRANT_URL/collections/$collection/snapshots?wait=true" | names | head -n 1)"
    [ -n "$snapshot" ] || { echo "Qdrant named no snapshot of $collection" >&2; exit 1; }
    qdrant -o "$tmp/snapshot" "$QDRANT_URL/collections/$collection/snapshots/$snapshot"
    aws s3 cp --only-show-errors "$tmp/snapshot" "s3://$BUCKET/qdrant/$folder/$collection.snapshot"
    rm -f "$tmp/snapshot"
    qdrant -o /dev/null -X DELETE "$QDRANT_URL/collections/$collection/snapshots/$snapshot?wait=true"
    count=$((count + 1))
  done
  [ "$count" -gt 0 ] || { echo "Qdrant holds no collection: nothing to save"; return; }
  printf '%s\n' "$collections" > "$tmp/complete"
  aws s3 cp --only-show-errors "$tmp/complete" "s3://$BUCKET/qdrant/$folder/complete"
  echo "Saved $count collection(s) as $folder"
}

restore() {
  local folder="$1" collection
  aws s3 cp --only-show-errors "s3://$BUCKET/qdrant/$folder/complete" "$tmp/complete" ||
    { echo "qdrant/$folder/complete is not in the bucket: choose a folder that has it" >&2; exit 1; }
  while read -r collection; do
    aws s3 cp --only-show-errors "s3://$BUCKET/qdrant/$folder/$collection.snapshot" "$tmp/snapshot"
    # its points take the place of those that are there
    qdrant -o /dev/null -X POST -F "snapshot=@$tmp/snapshot" \
      "$QDRANT_URL/collections/$collection/snapshots/upload?priority=snapshot&wait=true"
    rm -f "$tmp/snapshot"
    echo "Restored $collection"
  done < "$tmp/complete"
}

case "${1:-}" in
  save) save ;;
  restore) restore "${2:?restore takes the folder of the snapshots}" ;;
  *) echo "Say save, or restore FOLDER" >&2; exit 2 ;;
esac
