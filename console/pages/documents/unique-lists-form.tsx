import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';

interface ListDraft {
  readonly fields: string;
  readonly ignoreCase: boolean;
  readonly keepTrashed: boolean;
}

const emptyList: ListDraft = { fields: '', ignoreCase: false, keepTrashed: false };

const listOf = ({ fields, ...flags }: ListDraft) => ({ fields: fields.split(/[\s,]+/).filter(Boolean), ...flags });

export const UniqueListsForm = ({
  projectId,
  collection: { name: collectionName, unique = [] },
}: {
  readonly projectId: string;
  readonly collection: Data<'get-collection'>;
}) => {
  const lists = useSignal<readonly ListDraft[]>(
    unique.map(({ fields, ignoreCase = false, keepTrashed = false }) => ({
      fields: fields.join(', '),
      ignoreCase,
      keepTrashed,
    })),
  );
  const change = (place: number, changes: Partial<ListDraft>) => {
    lists.value = lists.value.map((list, at) => (at === place ? { ...list, ...changes } : list));
  };
  const save = async () => {
    const { hints = [] } = await request('update-collection', {
      projectId,
      collectionName,
      body: { unique: lists.value.map(listOf) },
    });
    say([t.settings.saved, ...hints].join(' '));
  };
  return (
    <section class="card stack measure">
      <h2>{t.uniqueLists.title}</h2>
      <p>{t.uniqueLists.text}</p>
      <Form act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            {lists.value.map((list, place) => (
              <fieldset key={place} class="stack">
                <Field
                  label={t.uniqueLists.fields(place + 1)}
                  hint={t.uniqueLists.fieldsWhy}
                  required
                  value={list.fields}
                  onInput={(event) => change(place, { fields: event.currentTarget.value })}
                  wrong={wrong(`unique.${place}`)}
                />
                <Switch
                  label={t.uniqueLists.ignoreCase}
                  on={list.ignoreCase}
                  onChange={(ignoreCase) => change(place, { ignoreCase })}
                />
                <Switch
                  label={t.uniqueLists.keepTrashed}
                  on={list.keepTrashed}
                  onChange={(keepTrashed) => change(place, { keepTrashed })}
                />
                <div class="row">
                  <Button
                    kind="plain"
                    onClick={() => {
                      lists.value = lists.value.toSpliced(place, 1);
                    }}
                  >
                    {t.uniqueLists.remove(place + 1)}
                  </Button>
                </div>
              </fieldset>
            ))}
            <div class="row">
              <Button
                onClick={() => {
                  lists.value = [...lists.value, emptyList];
                }}
              >
                {t.uniqueLists.add}
              </Button>
            </div>
          </>
        )}
      </Form>
    </section>
  );
};
