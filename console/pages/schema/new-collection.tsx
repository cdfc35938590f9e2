import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { isCollectionName } from '../../../shared/collections/names.ts';
import { type FieldProblem, Problem, problemOf } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { service } from '../../api/service.ts';
import { access } from '../../text/access.ts';
import { schema as words } from '../../text/schema.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { draftOf as accessDraftOf, bodyOf } from '../access/access-draft.ts';
import type { AccessKind } from '../access/access-kinds.ts';
import { importFile } from '../documents/import-form.tsx';
import { Cards } from './cards.tsx';
import { rowAt, rowsOf } from './editor.ts';
import { FromFile, useReadFile } from './from-file.tsx';
import { PlanLimit } from './plan-limit.tsx';
import { asNew, draftOf, type FieldDraft, schemaOf } from './schema-draft.ts';
import { SchemaEditor } from './schema-editor.tsx';
import { isTemplate, templates } from './templates.ts';

interface UniqueList {
  readonly fields: readonly string[];
}

type Way = keyof typeof words.begin.ways;

/** What most collections need. *Custom rules* are written on the page *Access*. */
const kinds: readonly AccessKind[] = ['public', 'signed-in', 'owner', 'server'];

const ways = Object.keys(words.begin.ways) as Way[];

/** Creates a collection: empty, with fields, from a template, or from a file whose documents are imported. */
export const NewCollection = () => {
  const { projectId = '' } = useRoute().params;
  const { route } = useLocation();
  const { draft, set } = useDraft({ name: '', prompt: '' });
  const way = useSignal<Way>('fields');
  const kind = useSignal<AccessKind>('public');
  const fields = useSignal<readonly FieldDraft[]>([]);
  const closed = useSignal(false);
  const unique = useSignal<readonly UniqueList[]>([]);
  const errors = useSignal<readonly FieldProblem[]>([]);
  const file = useReadFile();
  const progress = useSignal<{ readonly label: string; readonly bytes: number; readonly of: number } | undefined>(
    undefined,
  );
  /** The collection exists, but its file is not uploaded yet. */
  const created = useRef('');
  const hasFields = way.value !== 'any' && way.value !== 'file';
  const begin = (chosen: Way): void => {
    way.value = chosen;
    if (!isTemplate(chosen)) return;
    fields.value = draftOf(templates[chosen].schema).map(asNew);
    kind.value = templates[chosen].access;
    if (draft.value.name === '') draft.value = { ...draft.value, name: chosen };
  };
  /** Suggests the name of the file, without its ending, if a collection can have it. */
  const nameAfter = (fileName: string): void => {
    const name = fileName.replace(/\.[^.]*$/, '').replaceAll(/[^A-Za-z0-9]+/g, '_');
    if (draft.value.name === '' && isCollectionName(name)) draft.value = { ...draft.value, name };
  };
  const fileSchema = async () => {
    const table = file.table.value;
    if (!table) throw new Error(words.file.none);
    const [{ fieldsFor, mayBeName }] = await Promise.all([import('./guess-fields.ts')]);
    const kept = file.columns.value.filter((column) => column.kept);
    const wrong = kept.find(({ name }) => !mayBeName(table, name));
    if (wrong) throw new Error(words.file.wrongName(wrong.name || wrong.source));
    const twice = kept.find(({ name }, place) => kept.findIndex((other) => other.name === name) < place);
    if (twice) throw new Error(words.file.twice(twice.name));
    return schemaOf(fieldsFor(table, file.columns.value));
  };
  const upload = async (collectionName: string) => {
    const table = file.table.value;
    if (!table) return;
    const [{ convertFile }, { hasOwnIds }] = await Promise.all([
      import('./convert-file.ts'),
      import('./guess-fields.ts'),
    ]);
    const columns = file.columns.value;
    const sent = await convertFile(table, columns, (bytes) => {
      progress.value = { label: words.file.converting, bytes, of: table.file.size };
    });
    await importFile({
      ...{ projectId, collectionName, file: sent, format: table.layout.format === 'csv' ? 'csv' : 'ndjson' },
      ids: hasOwnIds(table, columns) ? 'keep' : 'new',
      onSent: (bytes) => {
        progress.value = { label: words.file.uploading, bytes, of: sent.size };
      },
    });
  };
  const create = async () => {
    const { name } = draft.value;
    const isFile = way.value === 'file';
    errors.value = [];
    try {
      const schema = isFile ? await fileSchema() : hasFields ? schemaOf(fields.value) : null;
      if (created.current !== name) {
        const rls = bodyOf({ ...accessDraftOf(noRowSecurity), kind: kind.value });
        await request('create-collection', {
          projectId,
          body: {
            ...{ name, schema, rls },
            ...(hasFields && { closed: closed.value }),
            ...(hasFields && unique.value.length > 0 && { unique: unique.value }),
          },
        });
        if (isFile) created.current = name;
      }
      if (isFile) await upload(name);
    } catch (error) {
      errors.value = problemOf(error).fields;
      throw error instanceof Error ? error : new Problem(0, {});
    } finally {
      progress.value = undefined;
    }
    route(`/projects/${projectId}/documents/${name}${isFile ? '/transfers' : ''}`);
  };
  const propose = async () => {
    const { data } = await request('propose-schema', { projectId, body: { prompt: draft.value.prompt } });
    fields.value = draftOf(data.schema as Parameters<typeof draftOf>[0]).map(asNew);
    closed.value = data.closed === true;
    unique.value = data.unique ?? [];
    if (data.name && !draft.value.name) draft.value = { ...draft.value, name: data.name };
  };
  return (
    <Page title={t.nav.newCollection} back={{ href: `/projects/${projectId}`, label: t.nav.overview }}>
      <div class="stack new-collection">
        <PlanLimit projectId={projectId} />
        <Form guarded act={t.acts.create} onSubmit={create}>
          {(wrong) => {
            const rows = rowsOf(fields.value);
            for (const { field } of errors.value) if (rowAt(rows, field)) wrong(field);
            return (
              <>
                <div class="measure">
                  <Field
                    label={t.projects.name}
                    hint={t.collection.nameWhy}
                    required
                    value={draft.value.name}
                    onInput={set('name')}
                    wrong={wrong('name')}
                  />
                </div>
                <Cards
                  title={words.begin.title}
                  value={way.value}
                  options={ways.map((each) => [each, ...words.begin.ways[each]])}
                  onChoose={begin}
                />
                {way.value === 'file' && (
                  <>
                    <FromFile read={file} onFile={nameAfter} />
                    <p class="muted">{words.file.imports}</p>
                  </>
                )}
                {hasFields && (
                  <section class="stack">
                    <h2>{words.fields}</h2>
                    <SchemaEditor
                      projectId={projectId}
                      self={draft.value.name}
                      fields={fields}
                      closed={closed}
                      errors={errors.value}
                    />
                    {unique.value.map((list, place) => (
                      <p key={list.fields.join()} class="row">
                        {`${words.together.title}: ${list.fields.join(', ')}`}
                        <Button
                          onClick={() => {
                            unique.value = unique.value.filter((other) => other !== list);
                          }}
                        >
                          {words.together.remove(place + 1)}
                        </Button>
                      </p>
                    ))}
                  </section>
                )}
                <Cards
                  title={access.who}
                  value={kind.value}
                  options={kinds.map((each) => [each, ...access.kinds[each]])}
                  onChoose={(chosen) => {
                    kind.value = chosen;
                  }}
                />
                <p class="small muted">{words.begin.accessLater}</p>
                {progress.value && (
                  <progress value={progress.value.bytes} max={progress.value.of} aria-label={progress.value.label} />
                )}
              </>
            );
          }}
        </Form>
        {service().assistant && way.value === 'fields' && (
          <section class="card stack measure">
            <h2>{t.assistant.title}</h2>
            <Form act={t.assistant.act} onSubmit={propose}>
              {(wrong) => (
                <TextField
                  label={t.assistant.prompt}
                  rows={3}
                  required
                  value={draft.value.prompt}
                  onInput={set('prompt')}
                  wrong={wrong('prompt')}
                />
              )}
            </Form>
          </section>
        )}
      </div>
    </Page>
  );
};
