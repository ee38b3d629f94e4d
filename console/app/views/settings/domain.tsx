/** How one host is treated now: its rate, its circuit, when it may be asked again. */

import type { ComponentChildren } from "preact";
import { call } from "../../api/client.ts";
import type { Domain, DomainRobot } from "../../api/types.ts";
import { useApi } from "../../api/use-api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Does } from "../../parts/does.tsx";
import { SmallForm } from "../../parts/form.tsx";
import { Fault } from "../../parts/page.tsx";
import { Preformatted } from "../../parts/preformatted.tsx";
import { LiveLink, number, State, Time } from "../../parts/text.tsx";

export function DomainState({ domain: name, changed }: { domain: string; changed(): void }) {
  const path = `/api/v1/domains/${encodeURIComponent(name)}`;
  const { data: domain, fault, reload } = useApi<Domain>(path);
  const change = async (way: string, body?: unknown): Promise<void> => {
    await call(
      `${path}${way}`,
      way === "" ? { method: "PUT", body } : body === undefined ? { method: "POST" } : { body },
    );
    reload();
    changed();
  };
  if (domain === undefined) return <Fault fault={fault} />;
  const { circuit, urls, hold_until, next_slot_at } = domain;
  return (
    <section class="domain" aria-label={`How ${name} is treated`}>
      <h3>{name}</h3>
      <dl class="reasons">
        <Fact name="Fetched at all">
          <State of={domain.is_blocked ? "blocked" : "active"} /> {domain.blocked_reason ?? ""}
        </Fact>
        <Fact name="Requests a second">{domain.rate_limit_rps ?? "as each job says"}</Fact>
        <Fact name="Circuit">
          {circuit.state}, {number(circuit.failures)} failures in a row
          {circuit.until === null ? null : (
            <>
              , until <Time at={circuit.until} />
            </>
          )}
        </Fact>
        {hold_until === null ? null : (
          <Fact name="It asked us to wait until">
            <Time at={hold_until} />
          </Fact>
        )}
        {next_slot_at === null ? null : (
          <Fact name="Next request">
            <Time at={next_slot_at} />
          </Fact>
        )}
        {urls === null ? null : (
          <Fact name="URLs">
            {number(urls.crawled)} crawled, {number(urls.failed)} failed, {number(urls.skipped)} left out
          </Fact>
        )}
        <Fact name="What it allows">
          <LiveLink url={`https://${name}/robots.txt`}>robots.txt</LiveLink>
        </Fact>
      </dl>
      {domain.robots.length === 0 ? (
        <p class="faint">Its robots.txt was not read within the last day: the next crawl reads it.</p>
      ) : (
        domain.robots.map((robots) => <RobotsRules key={robots.origin} {...robots} />)
      )}
      {domain.in_force ? null : (
        <p class="fault">The change is stored, and the workers do not have it yet: send it again.</p>
      )}
      <div class="actions">
        {domain.is_blocked ? (
          <Does label={`Unblock ${name}`} act={() => change("/unblock")}>
            Unblock
          </Does>
        ) : (
          <Confirm
            label={`Block ${name}`}
            question={`Block ${name}?`}
            act={() => change("/block", { reason: "Blocked in the console" })}
          >
            <p>Nothing of it is fetched any more, in jobs that run neither. What the archive has of it stays.</p>
          </Confirm>
        )}
        {circuit.state === "closed" ? null : (
          <Does label={`Close the circuit of ${name}`} act={() => change("/reset")}>
            Close the circuit
          </Does>
        )}
      </div>
      <SmallForm
        label="Set the rate"
        fields={[
          {
            name: "rate",
            label: "Requests a second",
            type: "number",
            hint: "Empty: as each job and the deployment say",
          },
        ]}
        send={({ rate = "" }) => change("", { rate_limit_rps: rate === "" ? null : Number(rate) })}
      />
    </section>
  );
}

/** In the words of the file: the first rule that matches decides. */
function RobotsRules({ origin, rules, total_rules, crawl_delay_s, sitemaps }: DomainRobot) {
  const left = total_rules - rules.length;
  const lines = [
    ...rules.map(({ allow, pattern }) => `${allow ? "Allow" : "Disallow"}: ${pattern}`),
    ...(left > 0 ? [`and ${number(left)} rules more`] : []),
    ...(crawl_delay_s === null ? [] : [`Crawl-delay: ${String(crawl_delay_s)}`]),
    ...sitemaps.map((at) => `Sitemap: ${at}`),
  ];
  return (
    <details>
      <summary>
        What {origin}/robots.txt says to this crawler:{" "}
        {total_rules === 0 ? "all is allowed" : `${number(total_rules)} rules`}
      </summary>
      <Preformatted class="scraped">{lines.join("\n") || "Nothing"}</Preformatted>
    </details>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
