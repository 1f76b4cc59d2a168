;; SPDX-License-Identifier: MIT
;; Drives Emacs's dap-mode through sessions with ppu-dap, for test_emacs.py, which has written the tutorial's lines for
;; it into configuration.el. It tells by lines on standard error what a user would see.

(require 'package)
(package-initialize)
(setq user-emacs-directory (expand-file-name "emacs/"))
(load-file "configuration.el")
(require 'dap-ui)

(defvar test-patience 100 "Seconds.")
(defvar test-stops 0 "How often a session has shown where it stands.")

(defun test-told (text &rest values)
  (princ (concat "SEEN " (apply #'format text values) "\n") #'external-debugging-output))

(defun test-frame ()
  (dap--debug-session-active-frame (dap--cur-session)))

(defun test-output ()
  (with-current-buffer (dap--debug-session-output-buffer (dap--cur-session))
    (string-trim (buffer-string))))

(defun test-await (is-so what)
  (let ((end (+ (float-time) test-patience)))
    (while (not (funcall is-so))
      (when (> (float-time) end)
        (test-told "nothing came: %s" what)
        (kill-emacs 1))
      (accept-process-output nil 0.05))))

(add-hook 'dap-stack-frame-changed-hook
          (lambda (session)
            (when (dap--debug-session-active-frame session)
              (setq test-stops (1+ test-stops)))))

(defun test-stopped-by (what)
  "Does WHAT, waits for the stop that it leads to, and tells the place of the frame and that of the cursor."
  (let ((before test-stops))
    (funcall what)
    (test-await (lambda () (> test-stops before)) "a stop")
    (test-told "stop: %s %d, cursor: %s %d" (gethash "name" (test-frame)) (gethash "line" (test-frame))
               (buffer-name (window-buffer)) (with-current-buffer (window-buffer) (line-number-at-pos)))))

(defun test-launch (what)
  "Starts the tutorial's configuration with the argument WHAT of its program."
  (let ((configuration (copy-sequence (cdr (assoc "kernels" dap-debug-template-configurations)))))
    (dap-debug (plist-put configuration :args (list what)))))

(defun test-ended ()
  (test-await (lambda () (not (dap--session-running (dap--cur-session)))) "the end")
  (test-told "output: %s" (test-output)))

(defun test-go-on ()
  (dap-breakpoint-delete-all)
  (dap-continue (dap--cur-session) (dap--debug-session-thread-id (dap--cur-session))))

(defun test-values (scope)
  "The view of local variables renders what these requests give."
  (let* ((frame (gethash "id" (test-frame)))
         (scopes (gethash "scopes" (dap-request (dap--cur-session) "scopes" :frameId frame)))
         (found (seq-find (lambda (one) (equal (gethash "name" one) scope)) scopes)))
    (dolist (one (gethash "variables" (dap-request (dap--cur-session) "variables"
                                                   :variablesReference (gethash "variablesReference" found))))
      (test-told "%s: %s = %s" scope (gethash "name" one) (gethash "value" one)))))

(defun test-breakpoint (line)
  (find-file "kernels.cl")
  (dap-mode 1)
  (goto-char (point-min))
  (forward-line (1- line))
  (dap-breakpoint-add))

;; A breakpoint with a condition; variables; a step into a function, and the caller's frame.
(test-breakpoint 9)
(cl-letf (((symbol-function 'read-string) (lambda (&rest _) "i == 70")))
  (call-interactively #'dap-breakpoint-condition))
(test-stopped-by (lambda () (test-launch "work")))
(test-values "Arguments")
(test-values "Locals")
(test-values "Lane")
(test-stopped-by (lambda () (call-interactively #'dap-step-in)))
(test-stopped-by (lambda () (dap-up-stack-frame 1)))
(test-stopped-by (lambda () (call-interactively #'dap-step-out)))
(cl-letf (((symbol-function 'dap-overlays--display-interactive-eval-result)
           (lambda (value &rest _) (test-told "value: %s" value))))
  (dap-eval "n + i")
  (dap-request (dap--cur-session) "threads"))
(test-go-on)
(test-ended)

;; A fault.
(test-stopped-by (lambda () (test-launch "fault")))
(dap-request (dap--cur-session) "threads")
(test-go-on)
(test-ended)

;; A kernel that does not end is stopped, and the program with it.
(test-launch "endless")
(test-await (lambda () (string-match-p "launched" (test-output))) "the launch")
(test-stopped-by (lambda () (dap-stop-thread-1 (dap--cur-session) 1)))
(test-values "Arguments")
(call-interactively #'dap-disconnect)
(test-ended)
