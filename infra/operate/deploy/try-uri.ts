import { MongoClient, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { tryDatabase } from '../try-database.ts';

const serverSelectionMs = 8000;

/** `unreachable` may be true for this machine only, because clusters often allow only the functions' addresses. */
export type UriTrial = 'works' | 'unreachable' | { readonly problem: string };

/** Error codes for a wrong user or password: MongoDB's and Atlas's. */
const signInCodes: readonly unknown[] = [18, 8000];

/** The error and all its causes, including the errors of each server. */
const causesOf = (error: unknown): readonly unknown[] => {
  if (!(error instanceof Error)) return [];
  const servers = error instanceof MongoServerSelectionError ? [...(error.reason?.servers.values() ?? [])] : [];
  return [error, ...servers.flatMap((server) => causesOf(server.error)), ...causesOf(error.cause)];
};

const isUnknownName = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOTFOUND' || cause.code === 'ENODATA');

const outcomeOf = (error: unknown): UriTrial => {
  const causes = causesOf(error);
  if (causes.some((cause) => cause instanceof MongoServerError && signInCodes.includes(cause.code))) {
    return { problem: 'the user or the password is wrong' };
  }
  if (causes.some(isUnknownName)) return { problem: 'its host name does not exist' };
  return 'unreachable';
};

const clientOf = (uri: string, timeoutMs: number): MongoClient | undefined => {
  try {
    return new MongoClient(uri, { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs });
  } catch {
    // The driver's message may contain parts of the URI.
    return undefined;
  }
};

/** Authentication mechanisms that the bundled driver does not contain (infra/build/driver/left-out.ts). */
const unsupportedMechanisms: readonly unknown[] = ['MONGODB-AWS', 'MONGODB-OIDC'];

/** Tests a URI from this machine with the operations that the service uses. Leaves nothing behind and prints no part of it. */
export const tryUri = async (uri: string, timeoutMs = serverSelectionMs): Promise<UriTrial> => {
  const client = clientOf(uri, timeoutMs);
  if (!client) {
    return { problem: 'it is malformed; write the characters @ : / % in its password as %40 %3A %2F %25' };
  }
  const mechanism = client.options.credentials?.mechanism;
  if (unsupportedMechanisms.includes(mechanism)) {
    return { problem: `it uses ${mechanism}, but the functions can only sign in with a user and a password` };
  }
  try {
    if (await tryDatabase(client)) return 'works';
    return { problem: 'its user lacks the roles readWriteAnyDatabase and dbAdminAnyDatabase' };
  } catch (error) {
    return outcomeOf(error);
  } finally {
    await client.close();
  }
};
