/** A fetch harness whose pages go on to a renderer, with real queues and objects. */
import { type RenderDependencies, runRenderTask } from "../../../../shared/crawl/rendering/run-render.ts";
import { type RenderTask, renderTaskSchema } from "../../../../shared/crawl/tasks/render-task.ts";
import { createLogger } from "../../../../shared/platform/observability/log.ts";
import type { RenderedPage, Renderer } from "../../../../shared/render/renderer.ts";
import { type FetchHarness, fetchHarness } from "../fetch/harness.ts";

export interface RenderHarness {
  fetch: FetchHarness;
  dependencies: RenderDependencies;
  /** Messages that wait for the renderer. */
  tasks(): Promise<RenderTask[]>;
  render(task: RenderTask, receiveCount?: number): Promise<void>;
}

export async function renderHarness(renderer: Renderer): Promise<RenderHarness> {
  const fetch = await fetchHarness();
  const { objects, queues, flags, sessions, hosts, egress, clock, settings } = fetch.dependencies;
  const dependencies = { renderer, egress, objects, queues, flags, sessions, hosts, clock, settings };
  const log = createLogger({}, "error", (line) => fetch.logged.push(line));
  return {
    fetch,
    dependencies,
    async tasks() {
      const found: RenderTask[] = [];
      for (;;) {
        const messages = await fetch.aws.receive("render");
        if (messages.length === 0) return found;
        found.push(...messages.map((message) => renderTaskSchema.parse(message)));
      }
    },
    render: (task, receiveCount = 1) =>
      runRenderTask(dependencies, task, { receiveCount, remainingMs: () => 60_000, log }),
  };
}

/** A renderer that does as a test says. */
export function fakeRenderer(render: Renderer["render"], asksAgain = false): Renderer {
  return { name: "chromium", asksAgain, render };
}

export const domOf = (html: string): RenderedPage => ({ html, navigations: [], shortcoming: null });
