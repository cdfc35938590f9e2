import { promises as dns } from 'node:dns';

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** The questions that are put to the DNS; each rejects with the error of `node:dns` where there is no answer. */
export interface Resolver {
  addresses(host: string): Promise<readonly HostAddress[]>;
  services(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>;
  texts(name: string): Promise<readonly (readonly string[])[]>;
}

const system: Resolver = {
  addresses: (host) => dns.lookup(host, { all: true }),
  services: (name) => dns.resolveSrv(name),
  texts: (name) => dns.resolveTxt(name),
};

/** Nothing that is deployed sets this: tests do, to answer in place of the DNS. */
const scripted = Symbol.for('basalt.resolver');

export const resolver = (): Resolver => (Reflect.get(globalThis, scripted) as Resolver | undefined) ?? system;
