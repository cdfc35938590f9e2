import * as v from 'valibot';
import { success } from '../schemas.ts';

const Part = v.object({ ok: v.boolean(), ms: v.number() });

/** What stands behind the service: part → whether it answers, and in how many milliseconds. */
export const HealthAnswer = success(
  v.object({
    status: v.literal('ok'),
    version: v.string(),
    parts: v.object({ mongodb: Part, dynamodb: Part, files: Part, queues: Part, encryption: Part }),
  }),
);

/** An OpenAPI document, as far as anybody but its reader needs to know. */
export const OpenApiAnswer = v.looseObject({
  openapi: v.literal('3.1.0'),
  info: v.looseObject({ title: v.string(), version: v.string() }),
  servers: v.array(v.object({ url: v.string() })),
  paths: v.looseObject({}),
});
