import {
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerSelectionError,
  type ServerDescription,
} from 'mongodb';
import { RestrictedHost } from '../../clients/net/restricted-host.ts';
import { UnsupportedUri } from '../../clients/own-databases/uri-options.ts';
import { isOverdue } from '../../clients/timed.ts';

/**
 * `connected`: it could write. `restricted`: the host is. `unreachable`: no server answered, or it rejected the
 * credentials. `shut out`: a server is there but does not let the verifier in.
 */
export const verdicts = ['connected', 'restricted', 'unreachable', 'shut out'] as const;
export type Verdict = (typeof verdicts)[number];

const chainOf = (error: unknown): readonly unknown[] =>
  error instanceof Error ? [error, ...chainOf(error.cause)] : error === undefined ? [] : [error];

/** How a host ends a TLS handshake that it does not want; MongoDB Atlas sends an alert to who is not on its list. */
const cutCodes = /^(ECONNRESET|EPIPE|ERR_SSL_(TLSV1|SSLV3)_ALERT_(INTERNAL_ERROR|ACCESS_DENIED|HANDSHAKE_FAILURE))$/;

const isCut = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && cutCodes.test(String(error.code))) ||
    (error instanceof MongoNetworkError && error.cause === undefined && error.message.startsWith('Socket closed')));

const isTimeout = (error: unknown): boolean =>
  error instanceof MongoNetworkTimeoutError ||
  isOverdue(error) ||
  (error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT');

const isRestricted = (error: unknown): boolean => error instanceof RestrictedHost || error instanceof UnsupportedUri;

const verdictOfChain = (error: unknown, tls: boolean): Verdict => {
  const chain = chainOf(error);
  if (chain.some(isRestricted)) return 'restricted';
  return chain.some((link) => isTimeout(link) || (tls && isCut(link))) ? 'shut out' : 'unreachable';
};

/** A server that has not said anything by the end of the time is one that does not let us in. */
const verdictOfServer = ({ error, type }: ServerDescription, tls: boolean): Verdict =>
  error === null ? (type === 'Unknown' ? 'shut out' : 'unreachable') : verdictOfChain(error, tls);

/** What a failed attempt to connect says of the database; `tls`: whether it was to begin with a TLS handshake. */
export const verdictOf = (error: unknown, tls: boolean): Verdict => {
  if (!(error instanceof MongoServerSelectionError)) return verdictOfChain(error, tls);
  const found = [...(error.reason?.servers.values() ?? [])].map((server) => verdictOfServer(server, tls));
  const worst = (['restricted', 'shut out'] as const).find((verdict) => found.includes(verdict));
  return worst ?? 'unreachable';
};
