/**
 * What elements of an XML document inherit from those that they are in: the namespaces of prefixes, and the base of
 * relative URLs.
 */

export interface XmlScopes {
  /** To be called for each start tag; its name in lower case, the namespace, and the base that `xml:base` gives it. */
  enter(qualified: string, attributes: Readonly<Record<string, string>>): ScopedName;
  /** To be called for each end tag. */
  leave(): void;
}

export interface ScopedName {
  name: string;
  /** As declared; of a prefix that nothing declares, the prefix itself. */
  namespace: string;
  /** Undefined where no `xml:base` concerns the element. */
  base: URL | undefined;
}

interface Scope {
  /** By prefix; "" is the default. */
  namespaces: ReadonlyMap<string, string>;
  base: URL | undefined;
}

/** @param document its own address, which relative bases start from */
export function createXmlScopes(document: URL | undefined): XmlScopes {
  const scopes: Scope[] = [];
  return {
    enter(qualified, attributes) {
      const above = scopes.at(-1) ?? { namespaces: new Map(), base: undefined };
      const scope = scopeOf(attributes, above, document);
      scopes.push(scope);
      const colon = qualified.indexOf(":");
      const prefix = qualified.slice(0, Math.max(0, colon));
      return {
        name: qualified.slice(colon + 1).toLowerCase(),
        namespace: scope.namespaces.get(prefix) ?? prefix,
        base: scope.base,
      };
    },
    leave: () => void scopes.pop(),
  };
}

function scopeOf(attributes: Readonly<Record<string, string>>, above: Scope, document: URL | undefined): Scope {
  let { namespaces, base } = above;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "xmlns" || attribute.startsWith("xmlns:")) {
      namespaces = new Map([...namespaces, [attribute.slice("xmlns:".length), value]]);
    } else if (attribute === "xml:base") {
      base = URL.parse(value.trim(), (base ?? document)?.href) ?? base;
    }
  }
  return { namespaces, base };
}
