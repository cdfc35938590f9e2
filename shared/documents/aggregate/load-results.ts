import type { AggregationCursor } from 'mongodb';
import { deserialize, rawBatches } from '../../clients/raw-documents.ts';
import { AppError } from '../../core/errors.ts';
import { answerPerBson, measured, PageBudget } from '../read/page-size.ts';
import { wireDocument } from '../wire-value.ts';

/** The refusal of an aggregation that takes too long (400). */
export const queryTimeout = (cause?: unknown): AppError =>
  new AppError(
    'QUERY_TIMEOUT',
    'The aggregation took longer than 5 seconds. Filter in a first $match, join by an indexed field, or add an index: POST /api/projects/:projectId/collections/:name/indexes of the dashboard API.',
    { cause },
  );

/**
 * Reads all documents of a cursor that was opened with `raw: true`, ready for `JSON.stringify`, and closes it. Stops as
 * soon as they exceed 5 MiB of an answer (400 `RESULT_TOO_LARGE`) or `limitMs` have passed (400 `QUERY_TIMEOUT`).
 */
export const loadResults = async (cursor: AggregationCursor, limitMs: number): Promise<unknown[]> => {
  const start = performance.now();
  const budget = new PageBudget();
  const results: unknown[] = [];
  for await (const batch of rawBatches(cursor)) {
    if (performance.now() - start > limitMs) throw queryTimeout();
    for (const raw of batch) {
      const document = wireDocument(deserialize(raw));
      if (!budget.add({ atMost: raw.byteLength * answerPerBson, exact: () => measured(document) })) {
        throw new AppError(
          'RESULT_TOO_LARGE',
          'The result is larger than 5 MiB of JSON, in which each quote and backslash counts twice. Add a $limit, or project fewer fields.',
        );
      }
      results.push(document);
    }
  }
  return results;
};
