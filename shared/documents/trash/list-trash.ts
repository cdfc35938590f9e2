import type { Collection } from '../../collections/collection.ts';
import { isInTrash, isNotGone } from '../../collections/trash-conditions.ts';
import type { PageRequest } from '../../core/page.ts';
import type { Project } from '../../projects/project.ts';
import type { Selection } from '../read/condition.ts';
import { findRows } from '../read/find-rows.ts';
import { parseListQuery } from '../read/list-query.ts';
import { pageTooLarge } from '../read/page-size.ts';
import type { Sort } from '../read/sort.ts';
import { filteredTotal } from '../read/total.ts';
import { daysLeft } from './grace.ts';

/** The order of the index alone, which is the same each time; a second key would have to be sorted in memory. */
const latestFirst: Sort = [{ path: 'deletedAt', direction: -1 }];

const trashed = ({ feed }: Pick<Collection, 'feed'>): Selection => ({
  conditions: [isInTrash, ...(feed ? [isNotGone] : [])],
  afterwards: [],
});

/**
 * What was trashed last first, and how many days each document has left, in the place of a field of its own of that
 * name; `total` is exact up to 10 000 (contract 6). Over 5 MiB → 400 `RESULT_TOO_LARGE`.
 */
export const listTrash = async (
  project: Project,
  collection: Pick<Collection, 'name' | 'feed'>,
  { page, limit }: PageRequest,
) => {
  const asked = parseListQuery([
    ['page', String(page)],
    ['limit', String(limit)],
  ]);
  const [{ rows, cut }, total] = await Promise.all([
    findRows(project, collection.name, trashed(collection), { ...asked, sort: latestFirst }),
    filteredTotal(project, collection.name, trashed(collection)),
  ]);
  if (cut) throw pageTooLarge(rows.length, 'Ask with a smaller limit, down to limit=1.');
  const items = rows.map(({ document }) => ({ ...document, daysLeft: daysLeft(document.deletedAt) }));
  return { items, ...total, page, limit };
};
