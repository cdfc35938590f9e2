import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import type { Field } from '../../../shared/collections/collection.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import { Problem } from '../../api/problem.ts';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Form } from '../../ui/form.tsx';
import type { NamedPart } from '../../ui/json-completion.ts';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { useKept } from '../../ui/kept.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { AggregateResults, type Results, type Stage, shownRows } from './aggregate-results.tsx';
import { CollectionPage } from './collection-page.tsx';
import { fieldPaths } from './columns.ts';
import { enforcedFields } from './shown-fields.ts';

const groupable: ReadonlySet<string> = new Set(['String', 'Boolean', 'Ref']);

/** A pipeline to start from: counts the documents by a field. */
const firstPipeline = (fields: readonly Field[]): string => {
  const by = fields.find(({ type }) => groupable.has(type));
  const group = by ? JSON.stringify(`$${by.key}`) : 'null';
  return `[
  { "$match": {} },
  { "$group": { "_id": ${group}, "documents": { "$sum": 1 } } },
  { "$sort": { "documents": -1 } }
]`;
};

const stageValues: Readonly<Record<string, string>> = {
  $match: '{ ‹› }',
  $group: '{ "_id": ‹null›, "count": { "$sum": 1 } }',
  $sort: '{ ‹"createdAt"›: -1 }',
  $project: '{ ‹"_id"›: 0 }',
  $addFields: '{ ‹› }',
  $limit: '‹10›',
  $skip: '‹10›',
  $unwind: '‹"$tags"›',
  $count: '‹"count"›',
  $sortByCount: '‹"$tags"›',
  $lookup: '{ "from": ‹"posts"›, "localField": "post", "foreignField": "_id", "as": "posts" }',
  $facet: '{ ‹"part"›: [] }',
  $bucket: '{ "groupBy": ‹"$price"›, "boundaries": [0, 10, 100], "default": "other" }',
};

const partsFor = (fields: readonly Field[]): readonly NamedPart[] => [
  ...Object.entries(stageValues).map(([key, value]) => ({ label: key, key, value })),
  ...fieldPaths(fields).map((path) => ({ label: `$${path}`, value: JSON.stringify(`$${path}`) })),
];

const parsePipeline = (text: string): readonly Stage[] => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (Array.isArray(value) && value.every(isPlainObject)) return value;
  const message = t.aggregate.notAList;
  throw new Problem(400, { message, errors: [{ field: 'pipeline', message }] });
};

interface Props {
  readonly projectId: string;
  readonly collectionName: string;
  readonly fields: readonly Field[];
}

const Playground = ({ projectId, collectionName, fields }: Props) => {
  const [kept, keep] = useKept(`pipeline:${projectId}/${collectionName}`, (text) =>
    typeof text === 'string' ? text : undefined,
  );
  const text = useSignal(kept ?? firstPipeline(fields));
  const results = useSignal<Results | undefined>(undefined);
  const parts = useMemo(() => partsFor(fields), [fields]);
  /** Runs the first stages only, if `stages` says how many; then the result has at most as many rows as are shown. */
  const run = async (pipeline: readonly Stage[], stages = pipeline.length) => {
    const isPart = stages < pipeline.length;
    const sent = isPart ? [...pipeline.slice(0, stages), { $limit: shownRows }] : [...pipeline];
    const begin = performance.now();
    const { data } = await request('aggregate-project-documents', {
      ...{ projectId, collectionName },
      body: { pipeline: sent },
    });
    results.value = { pipeline, stages, rows: data, ms: Math.round(performance.now() - begin) };
  };
  return (
    <div class="stack">
      <p class="muted">{t.aggregate.why}</p>
      <Form
        act={t.aggregate.run}
        onSubmit={async () => {
          const pipeline = parsePipeline(text.peek());
          keep(text.peek());
          await run(pipeline);
        }}
      >
        {(wrong) => (
          <JsonEditor
            low
            label={t.aggregate.pipeline}
            text={text.value}
            parts={parts}
            wrong={wrong('pipeline')}
            onInput={(typed) => {
              text.value = typed;
            }}
          />
        )}
      </Form>
      {results.value && (
        <AggregateResults
          collectionName={collectionName}
          results={results.value}
          onStages={(stages) => run(results.peek()?.pipeline ?? [], stages)}
        />
      )}
    </div>
  );
};

/** Runs pipelines on a collection, and shows the results after each stage. */
export const Aggregate = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const found = useQuery('get-collection', { projectId, collectionName });
  const { data: collection, problem } = found.value;
  return (
    <CollectionPage part="aggregate">
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {collection && (
        <Playground
          key={collectionName}
          projectId={projectId}
          collectionName={collectionName}
          fields={enforcedFields(collection)}
        />
      )}
    </CollectionPage>
  );
};
