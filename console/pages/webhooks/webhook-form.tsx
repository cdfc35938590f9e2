import { useSignal } from '@preact/signals';
import { type WebhookEvent, webhookEvents } from '../../../shared/webhooks/event-types.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { TickGroup } from '../../ui/tick-group.tsx';

/** What a webhook is, as the form has it; no collections are all that have a changes feed. */
export interface WebhookDraft {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly collections: readonly string[] | null;
}

const namesIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter((name) => name !== '');

/** Where a webhook leads, and what it is told of. */
export const WebhookForm = ({
  act,
  first,
  onSubmit,
  onClose,
}: {
  readonly act: string;
  readonly first: WebhookDraft;
  readonly onSubmit: (draft: WebhookDraft) => Promise<void>;
  readonly onClose: () => void;
}) => {
  const { draft, set } = useDraft({ url: first.url, collections: (first.collections ?? []).join(', ') });
  const chosen = useSignal<ReadonlySet<WebhookEvent>>(new Set(first.events));
  const choose = (event: WebhookEvent, on: boolean) => {
    chosen.value = new Set(webhookEvents.filter((one) => (one === event ? on : chosen.value.has(one))));
  };
  const submit = () => {
    const names = namesIn(draft.value.collections);
    return onSubmit({ url: draft.value.url, events: [...chosen.value], collections: names.length > 0 ? names : null });
  };
  return (
    <Form guarded act={act} cancel={t.acts.cancel} onCancel={onClose} onSubmit={submit}>
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
  );
};
