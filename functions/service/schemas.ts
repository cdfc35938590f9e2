import * as v from 'valibot';
import { success } from '../schemas.ts';

const Part = v.object({ ok: v.boolean(), ms: v.number() });

/** State and latency (ms) per dependency. */
export const HealthAnswer = success(
  v.object({
    status: v.literal('ok'),
    version: v.string(),
    parts: v.object({ mongodb: Part, dynamodb: Part, files: Part, queues: Part, encryption: Part }),
  }),
);

/** Only the fields that every document has. */
export const OpenApiAnswer = v.looseObject({
  openapi: v.literal('3.1.0'),
  info: v.looseObject({ title: v.string(), version: v.string() }),
  servers: v.array(v.object({ url: v.string() })),
  paths: v.looseObject({}),
});
