import { counts } from './counts.ts';
import { credentials } from './credentials.ts';
import { keys } from './keys.ts';
import type { Model } from './model.ts';
import { quotas } from './quotas.ts';
import { records } from './records.ts';
import { sessions } from './sessions.ts';
import { singleUse } from './single-use.ts';

export const models: readonly Model[] = [
  ...singleUse,
  ...counts,
  ...sessions,
  ...credentials,
  ...keys,
  ...quotas,
  ...records,
];
