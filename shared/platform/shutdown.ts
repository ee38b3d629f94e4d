/**
 * Ends what a container must end itself before it goes: processes that it has started. On Lambda the whole machine is
 * taken away, so nobody calls it there; the local runtime does, since what a thread has started would else be left to
 * its process.
 */
const works = new Set<() => Promise<void>>();

/**
 * Registers work for the shutdown.
 * @returns forgets the work again
 */
export function onShutdown(work: () => Promise<void>): () => void {
  works.add(work);
  return () => void works.delete(work);
}

/** Does all the registered work, each once. It never throws. */
export async function shutdown(): Promise<void> {
  const all = [...works];
  works.clear();
  await Promise.allSettled(all.map((work) => work()));
}
