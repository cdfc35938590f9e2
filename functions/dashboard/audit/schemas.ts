import * as v from 'valibot';
import { pageOf } from '../schemas.ts';

const settingValue = v.pipe(v.unknown(), v.metadata({ description: 'The value of the setting; never a secret.' }));

const Entry = v.object({
  _id: v.string(),
  at: v.date(),
  developerId: v.string(),
  email: v.nullable(v.string()),
  tokenId: v.nullable(v.string()),
  action: v.string(),
  target: v.record(v.string(), v.string()),
  fields: v.array(v.string()),
  values: v.array(v.object({ field: v.string(), before: settingValue, after: settingValue })),
  outcome: v.picklist(['done', 'unknown']),
});

export const AuditPage = pageOf(Entry);
