import http from 'node:http';
import https from 'node:https';
import { pipeline, type Readable, Transform } from 'node:stream';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { pinnedLookup } from '../clients/net/pinned-lookup.ts';

/** No answer that is read here has a body of any size: errors and the results of copies are a few lines of XML. */
const maxAnswerBytes = 256 * 1024;

const limited = (body: Readable): Readable => {
  let bytes = 0;
  const limit = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      done(bytes > maxAnswerBytes ? new Error('The answer of the storage is too long') : null, chunk);
    },
  });
  return pipeline(body, limit, () => undefined);
};

const agentOptions = { keepAlive: true, maxSockets: 20, timeout: 60_000, lookup: pinnedLookup };

/** HTTP to a storage that a customer names: to checked addresses, without redirects, at most 256 KiB an answer. */
export class LimitedHandler extends NodeHttpHandler {
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
