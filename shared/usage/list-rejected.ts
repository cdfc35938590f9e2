import { clock } from '../core/clock.ts';
import { type Page, type PageRequest, pageFrom } from '../core/values.ts';
import { sortPrefix } from '../persistence/item-keys.ts';
import { get, list } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { countKey, keptSeconds, partitionOf, type RejectedRequest } from './rejected-requests.ts';

const refusalFrom = (text: string): RejectedRequest => {
  const stored = JSON.parse(text) as RejectedRequest & { readonly at: string };
  return { ...stored, at: new Date(stored.at) };
};

interface RefusalsRequest extends PageRequest {
  readonly code?: string | undefined;
  readonly route?: string | undefined;
  readonly user?: string | undefined;
  readonly requestId?: string | undefined;
  readonly since?: Date | undefined;
}

/** The rejected requests of a project, newest first. `notKept`: those above ten per second. */
export const listRefusals = async (
  projectId: string,
  { code, route, user, requestId, since, ...page }: RefusalsRequest,
): Promise<Page<RejectedRequest> & { readonly notKept: number }> => {
  const prefix = sortPrefix(kinds.rejected);
  const [stored, counted] = await Promise.all([
    list<{ readonly entry: string; readonly expiresAt: number }>({
      partition: partitionOf(projectId),
      only: { prefix },
    }),
    get<{ readonly notKept?: number; readonly expiresAt: number }>(countKey(projectId)),
  ]);
  const after = Math.max(since?.getTime() ?? 0, clock.now() - keptSeconds * 1000);
  const found = stored
    .map(({ entry }) => refusalFrom(entry))
    .filter(
      (one) =>
        one.at.getTime() >= after &&
        (code === undefined || one.code === code) &&
        (route === undefined || one.route === route) &&
        (user === undefined || one.userId === user) &&
        (requestId === undefined || one.requestId === requestId),
    )
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a._id < b._id ? 1 : -1));
  return { ...pageFrom(found, page), notKept: counted?.notKept ?? 0 };
};
