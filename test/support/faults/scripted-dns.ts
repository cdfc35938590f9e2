import type { Resolver } from '../../../shared/outbound/restricted-addresses.ts';

/** Answers by name, one per query; the last one repeats. */
export interface Zone {
  readonly hosts: Record<string, readonly (readonly string[])[]>;
  /** By the name after `mongodb+srv://`, targets as `host:port`. */
  readonly services: Record<string, readonly string[]>;
  readonly texts: Record<string, readonly string[]>;
}

const absent = (name: string): Error => Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' });

const answers = <T>(table: Record<string, T>, name: string): T => {
  const known = Object.hasOwn(table, name) ? table[name] : undefined;
  if (known === undefined) throw absent(name);
  return known;
};

/** Replaces this process's DNS with a zone, which may change later. Returns the function that restores it. */
export const scriptDns = (zone: Zone): (() => void) => {
  const asked = new Map<string, number>();
  const symbol = Symbol.for('basalt.resolver');
  const resolver: Resolver = {
    addresses: async (host) => {
      const turns = answers(zone.hosts, host);
      const turn = asked.get(host) ?? 0;
      asked.set(host, turn + 1);
      const addresses = turns[Math.min(turn, turns.length - 1)] ?? [];
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    services: async (name) =>
      answers(zone.services, name.replace('_mongodb._tcp.', '')).map((target) => ({
        name: target.slice(0, target.lastIndexOf(':')),
        port: Number(target.slice(target.lastIndexOf(':') + 1)),
      })),
    texts: async (name) => [answers(zone.texts, name)],
  };
  Reflect.set(globalThis, symbol, resolver);
  return () => Reflect.deleteProperty(globalThis, symbol);
};
