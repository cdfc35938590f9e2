import http from 'node:http';
import https from 'node:https';
import { pipeline, type Readable, Transform } from 'node:stream';
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { mapConcurrent } from '../core/concurrency.ts';
import { AppError } from '../core/errors.ts';
import { portOf } from '../outbound/http.ts';
import { isRestrictedHost, pinnedLookup, RestrictedHost } from '../outbound/restricted-addresses.ts';
import { publishCommands, timedCustomer } from '../persistence/mongo-commands.ts';
import { isStorageDecision, plainChecksums } from '../persistence/s3.ts';
import { type Bucket, type OnBucket, s3Bucket } from './bucket.ts';
import { multipartBucket } from './multipart.ts';
import type { BucketPlace, StorageKeys } from './storage-keys.ts';

/** Responses that are read here are a few lines of XML. */
const maxAnswerBytes = 256 * 1024;

const limited = (body: Readable): Readable => {
  let bytes = 0;
  const limit = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      done(bytes > maxAnswerBytes ? new Error('The response of the storage is too long') : null, chunk);
    },
  });
  return pipeline(body, limit, () => undefined);
};

const agentOptions = { keepAlive: true, maxSockets: 20, timeout: 60_000, lookup: pinnedLookup };

/** HTTP to checked addresses, without redirects, at most 256 KiB per response. */
class LimitedHandler extends NodeHttpHandler {
  constructor() {
    super({
      httpAgent: new http.Agent(agentOptions),
      httpsAgent: new https.Agent(agentOptions),
      connectionTimeout: 3000,
      requestTimeout: 15_000,
      throwOnRequestTimeout: true,
    });
  }

  override async handle(...request: Parameters<NodeHttpHandler['handle']>): ReturnType<NodeHttpHandler['handle']> {
    const answer = await super.handle(...request);
    answer.response.body = limited(answer.response.body as Readable);
    return answer;
  }
}

/** A copy can take long, because sizes are unlimited. */
const callLimitMs = 20_000;
const maxClients = 20;
/** Longer than any call in progress. */
const closeAfterMs = 30_000;

const clients = new Map<string, S3Client>();

const openClient = ({ endpoint, region }: BucketPlace, credentials: StorageKeys): S3Client => {
  const url = new URL(endpoint);
  // Node makes no lookup for hosts that are addresses, so they are checked here.
  if (isRestrictedHost(url.hostname, portOf(url))) throw new RestrictedHost();
  return publishCommands(
    new S3Client({
      endpoint,
      region,
      credentials: { ...credentials },
      forcePathStyle: true,
      maxAttempts: 2,
      requestHandler: new LimitedHandler(),
      ...plainChecksums,
    }),
    's3',
    'deserialize',
  );
};

/** Keeps the most recently used clients; closes others after their calls. */
const clientOf = (place: BucketPlace, keys: StorageKeys): S3Client => {
  const name = JSON.stringify([place.endpoint, place.region, keys.accessKeyId, keys.secretAccessKey]);
  const client = clients.get(name) ?? openClient(place, keys);
  clients.delete(name);
  clients.set(name, client);
  for (const [oldest, unused] of clients) {
    if (clients.size <= maxClients) break;
    clients.delete(oldest);
    setTimeout(() => unused.destroy(), closeAfterMs).unref();
  }
  return client;
};

/** Calls a customer's bucket. 404, 409 and 412 pass through; all other errors become `STORAGE_UNAVAILABLE`. */
export const onCustomerBucket =
  (place: BucketPlace, keys: StorageKeys): OnBucket =>
  async (call) => {
    try {
      const client = clientOf(place, keys);
      return await timedCustomer(callLimitMs, () => call(client, place.bucket));
    } catch (cause) {
      if (isStorageDecision(cause)) throw cause;
      throw new AppError('STORAGE_UNAVAILABLE', "The project's bucket is unavailable or rejects its keys.", {
        cause,
        retryAfter: 5,
      });
    }
  };

/** Lets scripts and tests exit. */
export const closeExternalStorages = (): void => {
  for (const client of clients.values()) client.destroy();
  clients.clear();
};

const concurrency = 10;

/** A bucket at an S3-compatible endpoint; connects only to checked addresses. */
export const externalBucket = (place: BucketPlace, keys: StorageKeys): Required<Bucket> => {
  const on = onCustomerBucket(place, keys);
  const bucket = s3Bucket(on);
  return {
    ...bucket,
    parts: multipartBucket(on),

    // Some storages ignore `IfNoneMatch`.
    copy: async (copy) => ((await bucket.head(copy.to)) ? 'refused' : bucket.copy(copy)),

    // Some storages cannot remove many objects in one call.
    remove: (names) =>
      mapConcurrent(names, concurrency, (Key) =>
        on((client, Bucket) => client.send(new DeleteObjectCommand({ Bucket, Key }))),
      ),
  };
};
