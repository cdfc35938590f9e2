import { MongoClient, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { tryDatabase } from '../try-database.ts';

/** How long a server is looked for, as the doctor does. */
const reachMs = 8000;

/**
 * How a URI of MongoDB came out: `works`; `unreachable`, which may be so from this machine alone, as clusters let in
 * the addresses of the functions; or refused, and why, wherever it is tried from.
 */
export type UriTrial = 'works' | 'unreachable' | { readonly refused: string };

/** Codes for a user or password that is wrong: MongoDB's own, and that of Atlas. */
const loginCodes: readonly unknown[] = [18, 8000];

/** The error and what it was caused by, servers that were looked for included. */
const causesOf = (error: unknown): readonly unknown[] => {
  if (!(error instanceof Error)) return [];
  const servers = error instanceof MongoServerSelectionError ? [...(error.reason?.servers.values() ?? [])] : [];
  return [error, ...servers.flatMap((server) => causesOf(server.error)), ...causesOf(error.cause)];
};

const isUnknownName = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOTFOUND' || cause.code === 'ENODATA');

const outcomeOf = (error: unknown): UriTrial => {
  const causes = causesOf(error);
  if (causes.some((cause) => cause instanceof MongoServerError && loginCodes.includes(cause.code))) {
    return { refused: 'the cluster answers that user or password is wrong' };
  }
  if (causes.some(isUnknownName)) return { refused: 'its host is not known to the DNS' };
  return 'unreachable';
};

const clientOf = (uri: string, patienceMs: number): MongoClient | undefined => {
  try {
    return new MongoClient(uri, { serverSelectionTimeoutMS: patienceMs, connectTimeoutMS: patienceMs });
  } catch {
    // What the driver says may repeat parts of it.
    return undefined;
  }
};

/** Ways to sign in that are left out of the bundles (infra/build/driver/left-out.ts). */
const unknownToFunctions: readonly unknown[] = ['MONGODB-AWS', 'MONGODB-OIDC'];

/** Tries a URI from this machine by what the service does with it. Nothing stays behind, and none of it is printed. */
export const tryUri = async (uri: string, patienceMs = reachMs): Promise<UriTrial> => {
  const client = clientOf(uri, patienceMs);
  if (!client) {
    return { refused: 'it cannot be read; signs such as @ : / % in its password are written as %40 %3A %2F %25' };
  }
  const mechanism = client.options.credentials?.mechanism;
  if (unknownToFunctions.includes(mechanism)) {
    return { refused: `functions sign in by a user and a password, not by ${mechanism}` };
  }
  try {
    if (await tryDatabase(client)) return 'works';
    return { refused: 'its user lacks the roles readWriteAnyDatabase and dbAdminAnyDatabase' };
  } catch (error) {
    return outcomeOf(error);
  } finally {
    await client.close();
  }
};
