import { useSignal } from '@preact/signals';
import { type WebhookEvent, webhookEvents } from '../../../shared/webhooks/event-types.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { TickGroup } from '../../ui/tick-group.tsx';

/** A webhook as the form has it. No collections means all with a changes feed. */
interface WebhookDraft {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly collections: readonly string[] | null;
}

const namesIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter((name) => name !== '');

/** The address and the events of a webhook. */
export const WebhookForm = ({
  name,
  act,
  first,
  onSubmit,
  onClose,
}: {
  /** The name of its draft. */
  readonly name: string;
  readonly act: string;
  readonly first: WebhookDraft;
  readonly onSubmit: (draft: WebhookDraft) => Promise<void>;
  readonly onClose: () => void;
}) => {
  const { draft, set, isTouched } = useDraft({ url: first.url, collections: (first.collections ?? []).join(', ') });
  const chosen = useSignal<ReadonlySet<WebhookEvent>>(new Set(first.events));
  const choose = (event: WebhookEvent, on: boolean) => {
    chosen.value = new Set(webhookEvents.filter((one) => (one === event ? on : chosen.value.has(one))));
  };
  const events = [...chosen.value];
  const touched = isTouched || events.join() !== first.events.join();
  const submit = () => {
    const names = namesIn(draft.value.collections);
    return onSubmit({ url: draft.value.url, events, collections: names.length > 0 ? names : null });
  };
  return (
    <>
      <KeptDraft
        name={name}
        draft={{ ...draft.value, events }}
        isTouched={touched}
        onRestore={({ events: earlier, ...rest }) => {
          draft.value = rest;
          chosen.value = new Set(earlier);
        }}
      />
      <Form guarded touched={touched} act={act} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
        {(wrong) => (
          <>
            <Field
              label={t.webhooks.url}
              hint={t.webhooks.urlWhy}
              required
              maxLength={2048}
              value={draft.value.url}
              onInput={set('url')}
              wrong={wrong('url')}
            />
            <TickGroup label={t.webhooks.events} wrong={wrong('events')}>
              {webhookEvents.map((event) => (
                <label key={event} class="row">
                  <input
                    type="checkbox"
                    checked={chosen.value.has(event)}
                    onChange={({ currentTarget }) => choose(event, currentTarget.checked)}
                  />
                  <span class="mono">{event}</span>
                </label>
              ))}
            </TickGroup>
            <Field
              label={t.webhooks.collections}
              hint={t.webhooks.collectionsWhy}
              value={draft.value.collections}
              onInput={set('collections')}
              wrong={wrong('collections')}
            />
          </>
        )}
      </Form>
    </>
  );
};
