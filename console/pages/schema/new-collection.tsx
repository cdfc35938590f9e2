import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import { type FieldProblem, problemOf } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { service } from '../../api/service.ts';
import { schema as words } from '../../text/schema.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { rowAt, rowsOf } from './editor.ts';
import { asNew, draftOf, type FieldDraft, schemaOf } from './schema-draft.ts';
import { SchemaEditor } from './schema-editor.tsx';

interface UniqueList {
  readonly fields: readonly string[];
}

/** Creates a collection, with or without a schema. The assistant proposes a schema from a description. */
export const NewCollection = () => {
  const { projectId = '' } = useRoute().params;
  const { route } = useLocation();
  const { draft, set } = useDraft({ name: '', prompt: '' });
  const fields = useSignal<readonly FieldDraft[]>([]);
  const closed = useSignal(false);
  const unique = useSignal<readonly UniqueList[]>([]);
  const errors = useSignal<readonly FieldProblem[]>([]);
  const create = async () => {
    const { name } = draft.value;
    errors.value = [];
    try {
      await request('create-collection', {
        projectId,
        body: {
          name,
          schema: schemaOf(fields.value),
          closed: closed.value,
          ...(unique.value.length > 0 && { unique: unique.value }),
        },
      });
    } catch (error) {
      errors.value = problemOf(error).fields;
      throw error;
    }
    route(`/projects/${projectId}/documents/${name}`);
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
      <div class="stack">
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
                    {`${t.uniqueLists.title}: ${list.fields.join(', ')}`}
                    <Button
                      onClick={() => {
                        unique.value = unique.value.filter((other) => other !== list);
                      }}
                    >
                      {t.uniqueLists.remove(place + 1)}
                    </Button>
                  </p>
                ))}
              </>
            );
          }}
        </Form>
        {service().assistant && (
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
