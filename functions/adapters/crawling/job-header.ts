/** The header by which the answer to a crawl names its job. */
export const JOB_HEADER = { "x-job-id": "Names the job, where there is one" };
