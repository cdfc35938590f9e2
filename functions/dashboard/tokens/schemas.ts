import * as v from 'valibot';
import { scopes } from '../../../shared/accounts/developers/scopes.ts';
import { listOf } from '../../../shared/core/text.ts';
import { strictBody, success } from '../../schemas.ts';
import { pageOf } from '../schemas.ts';

const days = 'must be a whole Number from 1 to 365';

const Scope = v.picklist(scopes, 'must be a scope such as documents:read');

export const NewTokenBody = strictBody({
  name: v.pipe(
    v.string('must be a String'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(100, 'must have at most 100 characters'),
    v.regex(/^[^\p{Cc}]*$/u, 'must not contain control characters'),
  ),
  scopes: v.pipe(
    listOf(Scope, scopes.length, `must have at most ${scopes.length} entries`, 'must be an Array'),
    v.minLength(1, 'must name at least one scope'),
  ),
  projectIds: v.optional(
    v.nullable(
      v.pipe(
        listOf(
          v.pipe(v.string('must be a String'), v.regex(/^[0-9a-f]{24}$/, 'must be an id')),
          50,
          'must have at most 50 entries',
          'must be an Array',
        ),
        v.minLength(1, 'must name at least one project'),
      ),
    ),
  ),
  expiresInDays: v.optional(v.pipe(v.number(days), v.integer(days), v.minValue(1, days), v.maxValue(365, days)), 90),
});

const token = {
  _id: v.string(),
  name: v.string(),
  scopes: v.array(Scope),
  projectIds: v.nullable(v.array(v.string())),
  createdAt: v.date(),
  expiresAt: v.date(),
  lastUsedAt: v.nullable(v.date()),
};

export const TokenPage = pageOf(v.object(token));
/** Only the response that creates it contains the token. */
export const NewTokenAnswer = success(v.object({ ...token, token: v.string() }));
