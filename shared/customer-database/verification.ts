import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type Db,
  type MongoClient,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerSelectionError,
  type ServerDescription,
} from 'mongodb';
import * as v from 'valibot';
import { egressSettings, verifierSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { requestIdNow } from '../core/request.ts';
import { checkedAddresses, RestrictedHost } from '../outbound/restricted-addresses.ts';
import { invokeFunction } from '../persistence/lambda.ts';
import { isOverdue, timed } from '../persistence/mongo-commands.ts';
import { open, seal } from '../projects/sealed.ts';
import { openClient } from './client.ts';
import { type DatabaseUri, parseDatabaseUri, resolveSeeds, type Seed, UnsupportedUri } from './uri.ts';

/**
 * `unreachable`: no server responded, or it rejected the credentials. `shut out`: a server is there but rejects the
 * verifier's address.
 */
const verdicts = ['connected', 'restricted', 'unreachable', 'shut out'] as const;
export type Verdict = (typeof verdicts)[number];

const chainOf = (error: unknown): readonly unknown[] =>
  error instanceof Error ? [error, ...chainOf(error.cause)] : error === undefined ? [] : [error];

/** How hosts abort unwanted TLS handshakes; MongoDB Atlas sends an alert to addresses that are not on its list. */
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

/** A server that says nothing within the time limit blocks our address. */
const verdictOfServer = ({ error, type }: ServerDescription, tls: boolean): Verdict =>
  error === null ? (type === 'Unknown' ? 'shut out' : 'unreachable') : verdictOfChain(error, tls);

const verdictOf = (error: unknown, tls: boolean): Verdict => {
  if (!(error instanceof MongoServerSelectionError)) return verdictOfChain(error, tls);
  const found = [...(error.reason?.servers.values() ?? [])].map((server) => verdictOfServer(server, tls));
  const worst = (['restricted', 'shut out'] as const).find((verdict) => found.includes(verdict));
  return worst ?? 'unreachable';
};

const selectionMs = 5000;

const verifyLimitMs = 8500;

const settings = {
  maxPoolSize: 1,
  serverSelectionTimeoutMS: selectionMs,
  connectTimeoutMS: selectionMs,
  socketTimeoutMS: selectionMs,
  retryReads: false,
  retryWrites: false,
};

/** One of several hosts may be missing in DNS. */
const checkHosts = async (seeds: readonly Seed[]): Promise<void> => {
  const outcomes = await Promise.allSettled(seeds.map(({ host, port }) => checkedAddresses(host, port)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  const restricted = failures.find((failure) => failure instanceof RestrictedHost);
  if (restricted) throw restricted;
  if (failures.length === seeds.length) throw failures[0] ?? new Error('The name leads to no server');
};

/** Tries what the service does with collections; leaves nothing behind. */
const tryOut = async (db: Db): Promise<void> => {
  await db.command({ ping: 1 });
  const name = `basalt_verification_${randomUUID()}`;
  await db.collection(name).insertOne({ purpose: 'Basalt verifies that it can write here' });
  await db.dropCollection(name);
};

const attempt = async (uri: DatabaseUri): Promise<Verdict> => {
  let client: MongoClient | undefined;
  let tls = uri.srv;
  let refusedMember = false;
  try {
    const target = await resolveSeeds(uri);
    tls = target.options.tls ?? false;
    await checkHosts(target.seeds);
    const opened = openClient(uri, target, settings, () => {
      refusedMember = true;
    });
    client = opened;
    await tryOut(opened.db(uri.database));
    return refusedMember ? 'restricted' : 'connected';
  } catch (error) {
    return refusedMember ? 'restricted' : verdictOf(error, tls);
  } finally {
    await client?.close().catch(() => undefined);
  }
};

/** The URI is sealed, so that invocation logs do not contain it. */
interface VerificationRequest {
  readonly projectId: string;
  readonly sealedUri: string;
  readonly requestId?: string | undefined;
}

/** The context to which the URI is sealed. */
export const verificationId = (projectId: string): string => `${projectId}/verification`;

/** Connects, writes, and returns a verdict within 8.5 s. */
export const verifyDatabase = async (request: VerificationRequest): Promise<{ verdict: Verdict }> => {
  const { projectId, sealedUri, requestId } = request;
  const start = performance.now();
  const uri = parseDatabaseUri(await open(sealedUri, verificationId(projectId)));
  const verdict = await timed(verifyLimitMs, () => attempt(uri)).catch((error: unknown) => verdictOf(error, false));
  const ms = Math.round(performance.now() - start);
  log.info({ job: 'verify-database', project: projectId, verdict, ms, requestId });
  return { verdict };
};

export const restrictedUri = (cause?: unknown): AppError =>
  new AppError(
    'DATABASE_URI_RESTRICTED',
    'DB URI is pointing to a restricted host, internal network, or unsupported URI format.',
    { cause },
  );

const providers: readonly (readonly [domain: string, name: string])[] = [
  ['mongodb.net', 'MongoDB Atlas'],
  ['cosmos.azure.com', 'Azure Cosmos DB'],
  ['documents.azure.com', 'Azure Cosmos DB'],
];

const providerOf = (host: string): string =>
  providers.find(([domain]) => host.endsWith(`.${domain}`))?.[1] ?? 'your database provider';

export const serverAddresses = (): readonly [string, string] => {
  const { VERIFIER_IP_A, VERIFIER_IP_B } = egressSettings();
  return [VERIFIER_IP_A, VERIFIER_IP_B];
};

const whatToLetIn = (provider: string): string => {
  const addresses = serverAddresses();
  return addresses.every((address) => isIP(address) > 0)
    ? `Please whitelist Server IPs ${[...new Set(addresses)].join(', ')} in ${provider}`
    : `this service connects from changing addresses. Let in connections from anywhere (0.0.0.0/0) in ${provider}: user, password and TLS protect the database. Or ask the operator of the service for fixed addresses.`;
};

export const accessDenied = (host: string): AppError =>
  new AppError('DATABASE_ACCESS_DENIED', `Access Denied: ${whatToLetIn(providerOf(host))}`);

const accessLimitMs = 9500;

const Answer = v.object({ verdict: v.picklist(verdicts) });

const ask = async (verifier: string, request: VerificationRequest): Promise<Verdict> =>
  v.parse(Answer, await invokeFunction(verifier, request, accessLimitMs)).verdict;

const refusalFor = (found: readonly Verdict[], host: string) => {
  if (found.includes('restricted')) return restrictedUri();
  if (found.includes('connected') || !found.includes('unreachable')) return accessDenied(host);
  return new AppError('DATABASE_NOT_CONNECTED', 'Could not connect to the provided MongoDB URI.');
};

/** Runs both verifiers, each from its own address. Throws 400 with one of four messages unless both can write. */
export const requireAccess = async (projectId: string, text: string, { seeds }: DatabaseUri): Promise<void> => {
  const { VERIFIER_A, VERIFIER_B } = verifierSettings();
  const request = { projectId, sealedUri: await seal(text, verificationId(projectId)), requestId: requestIdNow() };
  const found = await Promise.all([ask(VERIFIER_A, request), ask(VERIFIER_B, request)]).catch((cause: unknown) => {
    throw new AppError(
      'DATABASE_NOT_VERIFIED',
      'Public API verification could not be completed (network/timeout). Please try again later.',
      { cause },
    );
  });
  if (found.some((verdict) => verdict !== 'connected')) throw refusalFor(found, seeds[0]?.host ?? '');
};
