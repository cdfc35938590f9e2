import { awsAddress, awsCredentials, awsRegion, fileSettings } from '../core/config.ts';
import { serviceUnavailable, signedForFetch } from './aws-client.ts';
import { publish, timed } from './mongo-commands.ts';

// Texts in our bucket, without the SDK, which would double the bundles of functions that hardly ever need them.

const contentType = 'text/plain; charset=utf-8';
const tryMs = 2400;
const limitMs = 5000;
const maxTries = 2;

/**
 * What S3 answered; `undefined` where there is no such thing. The text is read whatever it is, or its connection is
 * lost.
 */
const ask = async (method: 'GET' | 'PUT', key: string, body: string): Promise<string | undefined> => {
  const url = new URL(`${awsAddress('s3')}/${fileSettings().FILES_BUCKET}/${key}`);
  const request = { service: 's3', region: awsRegion(), method, host: url.host, path: url.pathname };
  publish({ system: 's3', name: method === 'GET' ? 'GetObjectCommand' : 'PutObjectCommand' });
  const answer = await fetch(url, {
    method,
    headers: { ...signedForFetch(request, awsCredentials(), body, Date.now()), 'content-type': contentType },
    ...(method === 'PUT' && { body }),
    signal: AbortSignal.timeout(tryMs),
  });
  const text = await answer.text();
  if (answer.ok) return text;
  if (answer.status === 404) return undefined;
  throw new Error(`S3 answered ${answer.status} to ${method}`);
};

/** Asks once more where the first try brought nothing; both may be repeated without harm. */
const askTwice = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await timed(limitMs, async () => {
      for (let tried = 1; ; tried++) {
        try {
          return await run();
        } catch (error) {
          if (tried === maxTries) throw error;
        }
      }
    });
  } catch (error) {
    throw serviceUnavailable(error);
  }
};

/** Writes a text; `key` has characters of URLs that need no encoding. Out of reach → 503 `SERVICE_UNAVAILABLE`. */
export const putObject = (key: string, text: string): Promise<void> =>
  askTwice(async () => {
    if ((await ask('PUT', key, text)) === undefined) throw new Error('There is no bucket');
  });

/** The text of an object; `undefined` where there is none. */
export const getObject = (key: string): Promise<string | undefined> => askTwice(() => ask('GET', key, ''));
