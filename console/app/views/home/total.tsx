/** A figure by its name. */
export function Total({ name, value, of }: { name: string; value: string; of?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {of === undefined ? null : <span class="faint"> of {of}</span>}
      </dd>
    </div>
  );
}
