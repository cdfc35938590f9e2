import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { isPlainObject } from '../../../shared/core/json.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { t } from '../../text/words.ts';
import { Chart, type Point } from '../../ui/chart.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Select } from '../../ui/select.tsx';
import { Table } from '../../ui/table.tsx';
import { Cell } from './cell.tsx';
import { CopyRequest } from './copy-request.tsx';

export type Stage = Readonly<Record<string, unknown>>;

/** The rows of one run. */
export interface Results {
  readonly pipeline: readonly Stage[];
  /** How many stages ran. */
  readonly stages: number;
  readonly rows: readonly unknown[];
  readonly ms: number;
}

/** A table shows no more. */
export const shownRows = 200;
const shownColumns = 20;
const maxBars = 60;

const valueAt = (row: unknown, key: string): unknown => (isPlainObject(row) ? row[key] : undefined);

const columnsOf = (rows: readonly unknown[]): readonly string[] =>
  [...new Set(rows.flatMap((row) => (isPlainObject(row) ? Object.keys(row) : [])))].slice(0, shownColumns);

interface Drawn {
  readonly label: string;
  readonly bars: readonly Point[];
}

/** Bars, if each row has an `_id` that is a plain value, and some column has a number of 0 or more in every row. */
const chartOf = (rows: readonly unknown[], columns: readonly string[]): Drawn | undefined => {
  if (rows.length < 2 || rows.length > maxBars || !columns.includes('_id')) return undefined;
  const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0;
  const value = columns.find((key) => key !== '_id' && rows.every((row) => isCount(valueAt(row, key))));
  const names = rows.map((row) => valueAt(row, '_id'));
  if (value === undefined || names.some((name) => typeof name === 'object' && name !== null)) return undefined;
  return {
    label: t.aggregate.by(value, '_id'),
    bars: rows.map((row, at) => ({ label: String(names[at]), value: valueAt(row, value) as number })),
  };
};

const nameOf = (stage: Stage | undefined): string => Object.keys(stage ?? {})[0] ?? '';

interface Props {
  readonly collectionName: string;
  readonly results: Results;
  /** Runs the first stages. */
  readonly onStages: (stages: number) => Promise<void>;
}

/** The rows after a stage as a table, and as a chart if they are counts. */
export const AggregateResults = ({ collectionName, results, onStages }: Props) => {
  const { pipeline, stages, rows, ms } = results;
  const problem = useSignal<Problem | undefined>(undefined);
  const json = useMemo(() => JSON.stringify(rows, null, 2), [rows]);
  const shown = rows.slice(0, shownRows);
  const columns = columnsOf(shown);
  const chart = chartOf(rows, columns);
  const isPart = stages < pipeline.length;
  const choose = async (chosen: number) => {
    problem.value = undefined;
    try {
      await onStages(chosen);
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  return (
    <div class="stack">
      <div class="measure">
        <Select
          label={t.aggregate.after}
          value={String(stages)}
          options={pipeline.map((stage, at) => [
            String(at + 1),
            at + 1 === pipeline.length ? t.aggregate.all(nameOf(stage)) : t.aggregate.stage(at + 1, nameOf(stage)),
          ])}
          onInput={({ currentTarget }) => void choose(Number(currentTarget.value))}
        />
      </div>
      <div class="row">
        <span class="muted small" role="status">
          {isPart && rows.length === shownRows
            ? t.aggregate.first(shownRows, ms)
            : t.aggregate.found(shown.length, rows.length, ms)}
        </span>
        <Copy text={json} label={t.aggregate.copyResults} />
        <CopyRequest
          label={t.documents.copyRequest}
          request={{
            ...{ id: 'aggregate-documents', method: 'POST', path: `/api/data/${collectionName}/aggregate` },
            body: { pipeline: pipeline.slice(0, stages) },
          }}
        />
      </div>
      {problem.value && <ProblemNote problem={problem.value} />}
      {chart && <Chart {...chart} />}
      {rows.length === 0 ? (
        <Empty text={t.aggregate.none} />
      ) : (
        <Table
          label={t.aggregate.results}
          columns={columns.map((key) => ({
            key,
            label: key,
            cell: ({ row }: { readonly row: unknown }) => <Cell value={valueAt(row, key)} />,
          }))}
          items={shown.map((row, at) => ({ row, at }))}
          keyOf={({ at }) => String(at)}
        />
      )}
    </div>
  );
};
