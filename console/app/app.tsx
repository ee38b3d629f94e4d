/** The frame around the views: the way to each, and the key that all of them need. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signOut, useIsSignedIn } from "./api/session.ts";
import { Loading, View } from "./parts/page.tsx";
import { hrefOf, type Place, usePlace } from "./router.ts";
import { Home } from "./views/home/home.tsx";
import { KeyEntry } from "./views/key-entry.tsx";

type ViewOf = ComponentType<{ place: Place }>;

interface Entry {
  name: string;
  title: string;
  load(): Promise<ViewOf> | ViewOf;
}

/** Each view but the first is loaded when somebody opens it. */
const VIEWS: readonly Entry[] = [
  { name: "home", title: "Home", load: () => Home },
  { name: "crawl", title: "New crawl", load: async () => (await import("./views/crawl/new-crawl.tsx")).NewCrawl },
  { name: "jobs", title: "Jobs", load: async () => (await import("./views/jobs/jobs.tsx")).Jobs },
  { name: "search", title: "Search", load: async () => (await import("./views/search/search.tsx")).Search },
  { name: "archive", title: "Archive", load: async () => (await import("./views/archive/archive.tsx")).Archive },
  { name: "sources", title: "Sources", load: async () => (await import("./views/sources/sources.tsx")).Sources },
  { name: "webhooks", title: "Webhooks", load: async () => (await import("./views/webhooks/webhooks.tsx")).Webhooks },
  {
    name: "knowledge",
    title: "Knowledge",
    load: async () => (await import("./views/knowledge/knowledge.tsx")).Knowledge,
  },
  { name: "settings", title: "Settings", load: async () => (await import("./views/settings/settings.tsx")).Settings },
];

export function App() {
  const isSignedIn = useIsSignedIn();
  const place = usePlace();
  if (!isSignedIn) return <KeyEntry />;
  const name = place.path[0] ?? "home";
  return (
    <div class="frame">
      {/* the address holds where the reader is: a link to a part of the page would lose it */}
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>("#view h1")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf([])}>
          Strandline
        </a>
        <nav aria-label="Views">
          <ul>
            {VIEWS.map((entry) => (
              <li key={entry.name}>
                <a class="tab" href={hrefOf([entry.name])} aria-current={entry.name === name ? "page" : undefined}>
                  {entry.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <button type="button" class="quiet" onClick={signOut}>
          Forget key
        </button>
      </header>
      <Opened name={name} place={place} />
    </div>
  );
}

function Opened({ name, place }: { name: string; place: Place }) {
  const [opened, setOpened] = useState<{ name: string; view: ViewOf }>({ name: "home", view: Home });
  const entry = VIEWS.find((each) => each.name === name);
  useEffect(() => {
    let isWanted = true;
    void Promise.resolve(entry?.load()).then((view) => {
      if (isWanted && view !== undefined) setOpened({ name, view });
    });
    return () => {
      isWanted = false;
    };
  }, [name, entry]);
  if (entry === undefined) {
    return (
      <View title="No such view">
        <p>
          Nothing is at this address. <a href={hrefOf([])}>Home</a> shows what there is.
        </p>
      </View>
    );
  }
  if (opened.name !== name) {
    return (
      <main id="view" class="view">
        <Loading />
      </main>
    );
  }
  const { view: Shown } = opened;
  return <Shown place={place} />;
}
