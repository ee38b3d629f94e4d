/** Clients of the progress of a job, as programs write them: they keep what they were told, in order. */
import { once } from "node:events";
import WebSocket from "ws";
import { whenTestEnds } from "./database.ts";
import { recordChecks } from "./documented-answers.ts";

export interface ToldEvent {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event is compared, never trusted
  data: any;
}

export interface Listener {
  socket: WebSocket;
  events: ToldEvent[];
  /** The close code, once the other side has closed it. */
  closed: Promise<number>;
}

interface SocketOptions {
  key?: string | undefined;
  protocols?: string[];
  /** Instead of the path that names the job. */
  path?: string;
}

/**
 * Resolves once it is open.
 * @throws Error with the status where it is refused
 */
export async function listen(
  url: string,
  jobId: string,
  { key, protocols = [], path = `/api/v1/ws/crawl/${jobId}` }: SocketOptions,
): Promise<Listener> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const socket = new WebSocket(url.replace("http", "ws") + path, protocols, { headers });
  whenTestEnds(async () => socket.terminate());
  const events: ToldEvent[] = [];
  socket.on("message", (data) => events.push(JSON.parse(String(data)) as ToldEvent));
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await once(socket, "open");
  socket.on("error", () => {});
  return { socket, events, closed };
}

/** The status of a refused handshake; 101 where it was not refused. */
export async function statusOf(opening: Promise<Listener>): Promise<number> {
  try {
    await opening;
    return 101;
  } catch (error) {
    return Number(/Unexpected server response: (\d+)/.exec(String(error))?.[1]);
  }
}

export interface ServerSentEvent {
  event: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event is compared, never trusted
  data: any;
}

/** Reads a stream to its end, or until `enough`. */
export async function readEvents(
  response: Response,
  enough: (events: readonly ServerSentEvent[]) => boolean = () => false,
): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const fields = Object.fromEntries(
        frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      );
      if (fields["data"] === undefined) continue;
      const data: unknown = JSON.parse(fields["data"]);
      recordChecks.get(response)?.(data);
      events.push({ event: fields["event"] ?? "", id: fields["id"] ?? "", data });
    }
    if (enough(events)) break;
  }
  return events;
}
