/** What the views are set in: their heading, faults, what to do where nothing is there yet. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ApiFault } from "../api/client.ts";

/** The heading takes the focus when a view opens, so that a screen reader tells where the reader is. */
export function View({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Strandline`;
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return (
    <main id="view" class="view">
      <div class="view-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}

export function Panel({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

export function Fault({ fault }: { fault: ApiFault | undefined }) {
  if (fault === undefined) return null;
  return (
    <div class="fault" role="alert">
      <p>
        {fault.message} <code>{fault.code}</code>
      </p>
      {fault.faults.length === 0 ? null : (
        <ul>
          {fault.faults.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {fault.requestId === undefined ? null : <p class="faint">Request {fault.requestId}</p>}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Loading() {
  return (
    <p class="faint" role="status">
      Loading…
    </p>
  );
}

/** Of a list: its fault, that it is coming, what to do where it is empty, or the list. */
export function Listed<T>({
  pages,
  empty,
  children,
}: {
  pages: {
    items: readonly T[] | undefined;
    fault: ApiFault | undefined;
    more?: (() => void) | undefined;
    isLoading?: boolean;
  };
  empty: ComponentChildren;
  children(items: readonly T[]): ComponentChildren;
}) {
  const { items, fault, more, isLoading } = pages;
  return (
    <>
      <Fault fault={fault} />
      {items === undefined && fault === undefined ? <Loading /> : null}
      {items === undefined ? null : items.length === 0 ? <Empty>{empty}</Empty> : children(items)}
      {more === undefined ? null : (
        <p>
          <button type="button" onClick={more} disabled={isLoading}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
