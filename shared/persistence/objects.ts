import { fileSettings } from '../core/config.ts';
import { ServiceError, SignedClient } from './aws-client.ts';
import { publish } from './mongo-commands.ts';
import { serviceClient } from './service-client.ts';

// Texts in our bucket. The S3 SDK would double the bundles of functions that rarely need them.

const s3 = serviceClient(() => new SignedClient('s3', { maxTries: 2, connectMs: 1000, answerMs: 2400 }), 5000);

const pathOf = (key: string): string => `/${fileSettings().FILES_BUCKET}/${key}`;

/** Writes a text. The characters of `key` must need no encoding in URLs. */
export const putObject = async (key: string, text: string): Promise<void> => {
  publish({ system: 's3', name: 'PutObjectCommand' });
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  const request = {
    operation: 'PutObject',
    method: 'PUT',
    path: pathOf(key),
    headers,
    body: text,
    parse: String,
  } as const;
  await s3.on((client) => client.request(request));
};

/** The text of an object; `undefined` if there is none. */
export const getObject = (key: string): Promise<string | undefined> => {
  publish({ system: 's3', name: 'GetObjectCommand' });
  return s3.on(async (client) => {
    try {
      return await client.request({ operation: 'GetObject', method: 'GET', path: pathOf(key), parse: String });
    } catch (error) {
      if (error instanceof ServiceError && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    }
  });
};

export const closeObjects = s3.close;
