import type { ExportJob } from '../../src/messages/console.ts';

/** An export or an edit of a dataset, while it runs and how it ended. */
export function JobProgress({ job, testId }: { job: ExportJob; testId: string }) {
  const words = {
    idle: '',
    running: job.message,
    done: `Written to ${job.out}`,
    failed: `Failed: ${job.message}`,
  };
  return (
    <div class="progress" data-testid={testId} data-state={job.state} role="status">
      <progress
        max={1}
        {...(job.progress === null && job.state === 'running' ? {} : { value: job.progress ?? 0 })}
      />
      <p class={job.state === 'failed' ? 'small bad' : 'small'}>{words[job.state]}</p>
    </div>
  );
}

export const isEdit = (job: ExportJob): boolean => job.format.startsWith('dataset ');
