/** What only some keys may change: `#/settings`. */
import { View } from "../../parts/page.tsx";
import type { Place } from "../../router.ts";
import { Caches } from "./caches.tsx";
import { Configs } from "./configs.tsx";
import { Domains } from "./domains.tsx";
import { Exports } from "./exports.tsx";
import { Keys } from "./keys.tsx";
import { Proxies } from "./proxies.tsx";

export function Settings(_: { place: Place }) {
  return (
    <View title="Settings">
      <Keys />
      <Domains />
      <Proxies />
      <Configs />
      <Exports />
      <Caches />
    </View>
  );
}
