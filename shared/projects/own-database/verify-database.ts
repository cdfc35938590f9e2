import { randomUUID } from 'node:crypto';
import type { Db, MongoClient } from 'mongodb';
import { checkedAddresses } from '../../clients/net/pinned-lookup.ts';
import { RestrictedHost } from '../../clients/net/restricted-host.ts';
import { type DatabaseUri, parseDatabaseUri, type Seed } from '../../clients/own-databases/database-uri.ts';
import { openClient } from '../../clients/own-databases/open-client.ts';
import { resolveSeeds } from '../../clients/own-databases/resolve-seeds.ts';
import { timed } from '../../clients/timed.ts';
import { log } from '../../core/log.ts';
import { open } from '../sealed.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** Contract 7: the time for finding a server. */
const selectionMs = 5000;

/** A verifier has given its verdict before those who asked it give up. */
const limitMs = 8500;

const settings = {
  maxPoolSize: 1,
  serverSelectionTimeoutMS: selectionMs,
  connectTimeoutMS: selectionMs,
  socketTimeoutMS: selectionMs,
  retryReads: false,
  retryWrites: false,
};

/** Every address of every host; one host of several may be unknown to the DNS. */
const checkHosts = async (seeds: readonly Seed[]): Promise<void> => {
  const outcomes = await Promise.allSettled(seeds.map(({ host, port }) => checkedAddresses(host, port)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  const restricted = failures.find((failure) => failure instanceof RestrictedHost);
  if (restricted) throw restricted;
  if (failures.length === seeds.length) throw failures[0] ?? new Error('The name leads to no server');
};

/** What the service does with collections is what is tried; nothing stays behind. */
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

/** What a verifier is sent. The URI is sealed, so that it stands in no log of invocations. */
export interface VerificationRequest {
  readonly projectId: string;
  readonly sealedUri: string;
  readonly requestId?: string | undefined;
}

/** What the URI of a request is sealed to. */
export const verificationId = (projectId: string): string => `${projectId}/verification`;

/** Connects as a customer's URI says, every address checked, and tries to write; a verdict within 8.5 s. */
export const verifyDatabase = async (request: VerificationRequest): Promise<{ verdict: Verdict }> => {
  const { projectId, sealedUri, requestId } = request;
  const start = performance.now();
  const uri = parseDatabaseUri(await open(sealedUri, verificationId(projectId)));
  const verdict = await timed(limitMs, () => attempt(uri)).catch((error: unknown) => verdictOf(error, false));
  const ms = Math.round(performance.now() - start);
  log.info({ job: 'verify-database', project: projectId, verdict, ms, requestId });
  return { verdict };
};
